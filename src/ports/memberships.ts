// How old a membership may be for reading.

import type { ChannelId, UserId } from "../domain/ids.ts";
import type { People } from "../ports.ts";

/** How old a membership may be (ms) that allows reading. */
export const MEMBERSHIP_AGE_MS = 60_000;
/** How old a membership may be (ms) that refuses reading: somebody may have just joined. Not 0, so that repeated questions do not use up the look-ups. */
export const JOINED_AGE_MS = 2_000;

/** The channels of a person, for reading. An old answer never decides that they are not in `channel`. */
export async function channelsOf(
  people: Pick<People, "channelsOf">,
  user: UserId,
  channel: ChannelId,
): Promise<ReadonlySet<ChannelId>> {
  const known = await people.channelsOf(user, MEMBERSHIP_AGE_MS);
  return known.has(channel) ? known : people.channelsOf(user, JOINED_AGE_MS);
}
