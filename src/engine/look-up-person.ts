// Who somebody is, and in which of a rule's groups and channels, according to Slack.

import type { Person, Refusal } from "../domain/authorization.ts";
import type { UserId } from "../domain/ids.ts";
import { groupsAndChannelsOf, type Principals } from "../domain/policy/policy.ts";
import type { Run } from "../domain/run.ts";
import { type People, PortError } from "../ports.ts";

/** A decision may rest on an answer up to this old (ms), shared by requests of the same burst. */
export const SUBMIT_AGE_MS = 5_000;

export type Asked = { readonly user: UserId; readonly principals: Principals; readonly maxAgeMs: number };

/** Facts about the person, or a refusal where Slack does not answer. */
export async function lookUp(
  { people }: { readonly people: Pick<People, "lookUp" | "memberOf"> },
  run: Run,
  { user, principals, maxAgeMs }: Asked,
): Promise<Person | Refusal> {
  try {
    const [person, memberOf] = await Promise.all([
      people.lookUp(run.team, user, run.channel, maxAgeMs),
      people.memberOf(user, groupsAndChannelsOf(principals), maxAgeMs),
    ]);
    return { ...person, memberOf };
  } catch (error) {
    if (error instanceof PortError) return { type: "unverified" };
    throw error;
  }
}
