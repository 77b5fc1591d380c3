// Checks that Slack knows the channels, people and groups that the configuration and the policy name, and that the app is in its channels.

import { z } from "zod";
import { slackChannels, slackGroup, slackUser } from "../../adapters/slack/answers.ts";
import type { Call } from "../../adapters/slack/clients.ts";
import type { Config } from "../../config.ts";
import { idsNamedIn, type Policy } from "../../domain/policy/policy.ts";
import { PortError } from "../../ports.ts";
import { bad, type Finding, good, note } from "./finding.ts";

const CHANNELS = "Channels";
const AUDIT_CHANNEL = "Audit channel";
const ADMINS = "Admins";
const APPROVERS = "Approvers";
const IN_POLICY = "Policy";

const INVITE = "In each channel that should have runs, type: /invite @countersign";
const INVITE_THERE = "Invite the app to that channel, or set AUDIT_CHANNEL to another channel.";
/** Countersign starts, but no one may decide under a rule that excepts a channel it cannot see. */
const SEE_EXCEPTED =
  "Invite the app to that channel, or except its people by their ids or by a user group. Until then Slack does not say who is excepted, so no one may decide under these rules.";
const COPY_ID =
  "Copy the id again from Slack: ⋮ in a person's profile, or at the end of a channel's details.";

/** Each id takes one call. Slack accepts fifty calls a minute of the most limited method. */
const MAX_IDS = 40;

export async function checkPlaces(config: Config, policy: Policy | null, call: Call): Promise<Finding[]> {
  const { channel, admins } = config.audit;
  const { users, groups } = config.approvers;
  const excepted = new Map<string, readonly string[]>(policy === null ? [] : channelsExcepted(policy));
  const named = policy === null ? [] : [...new Set<string>(idsNamedIn(policy)).difference(excepted)];
  const findings = await Promise.all([
    checkJoined(call),
    channel === null ? [] : checkAuditChannel(call, channel),
    admins.length === 0 ? [] : checkIds(call, { what: ADMINS, ids: admins, unknown: bad }),
    users.length + groups.length === 0
      ? []
      : checkIds(call, { what: APPROVERS, ids: [...users, ...groups], unknown: bad }),
    named.length === 0 ? [] : checkIds(call, { what: IN_POLICY, ids: named, unknown: note }),
    checkExcepted(call, excepted),
  ]);
  return findings.flat();
}

/** Returns each excepted channel with the names of the rules that except it. */
function channelsExcepted({ rules }: Policy): readonly (readonly [string, readonly string[]])[] {
  const channels = new Set(rules.flatMap(({ except }) => except?.channels ?? []));
  return [...channels].map((id) => [
    id,
    rules.flatMap(({ name, except }) => (except?.channels.includes(id) === true ? [name] : [])),
  ]);
}

async function checkExcepted(
  call: Call,
  excepted: ReadonlyMap<string, readonly string[]>,
): Promise<Finding[]> {
  const doubts = await Promise.all(
    [...excepted].slice(0, MAX_IDS).map(async ([id, rules]) => {
      const doubt = await doubtOf(call, id);
      return doubt === null
        ? []
        : [`${doubt}, and it is excepted by ${rules.map((rule) => `"${rule}"`).join(", ")}`];
    }),
  );
  const says = doubts.flat();
  return says.length === 0 ? [] : [bad(IN_POLICY, says.join("; "), SEE_EXCEPTED)];
}

async function checkJoined(call: Call): Promise<Finding[]> {
  const args = { types: "public_channel,private_channel", exclude_archived: true, limit: 200 };
  const joined = await tryCall(async () => slackChannels(await call("users.conversations", args)));
  if ("error" in joined) return [note(CHANNELS, `could not be listed: ${joined.error}`, "")];
  const { ids, next } = joined.value;
  if (ids.length === 0) return [note(CHANNELS, "the app is in no channel, so no run can be started", INVITE)];
  return [good(CHANNELS, `the app is in ${ids.length}${next === "" ? "" : " or more"}`)];
}

const Channel = z.object({
  channel: z.object({
    is_member: z.boolean().optional().default(false),
    is_archived: z.boolean().optional().default(false),
  }),
});

async function checkAuditChannel(call: Call, channel: string): Promise<Finding[]> {
  const found = await tryCall(
    async () => Channel.parse(await call("conversations.info", { channel })).channel,
  );
  if ("error" in found) return [bad(AUDIT_CHANNEL, `${channel}: ${found.error}`, INVITE_THERE)];
  const { is_archived, is_member } = found.value;
  if (is_archived) return [bad(AUDIT_CHANNEL, `${channel} is archived`, INVITE_THERE)];
  if (!is_member) return [bad(AUDIT_CHANNEL, `the app is not in ${channel}`, INVITE_THERE)];
  return [good(AUDIT_CHANNEL, `the app is in ${channel}`)];
}

type Ids = {
  readonly what: string;
  readonly ids: readonly string[];
  /** Makes the finding for ids that Slack does not know. */
  readonly unknown: typeof bad;
};

async function checkIds(call: Call, { what, ids, unknown }: Ids): Promise<Finding[]> {
  const asked = ids.slice(0, MAX_IDS);
  const doubts = (await Promise.all(asked.map((id) => doubtOf(call, id)))).filter((doubt) => doubt !== null);
  const rest = ids.length - asked.length;
  const left = rest === 0 ? "" : `; ${rest} more ids were not checked`;
  if (doubts.length === 0)
    return [good(what, `Slack knows all ids that are named there (${asked.length})${left}`)];
  return [unknown(what, `${doubts.join("; ")}${left}`, COPY_ID)];
}

/** Resolves to what is wrong with this id, or to null. */
async function doubtOf(call: Call, id: string): Promise<string | null> {
  if (id.startsWith("S")) {
    const group = await tryCall(async () =>
      slackGroup(await call("usergroups.users.list", { usergroup: id })),
    );
    if ("error" in group) return `${id}: ${group.error}`;
    return group.value.length === 0 ? `${id} is empty` : null;
  }
  if (/^[CG]/.test(id)) {
    const channel = await tryCall(() => call("conversations.info", { channel: id }));
    return "error" in channel ? `${id}: ${channel.error}` : null;
  }
  const user = await tryCall(async () => slackUser(await call("users.info", { user: id })));
  if ("error" in user) return `${id}: ${user.error}`;
  const { deleted, isBot, isGuest } = user.value;
  if (deleted) return `${id} is deactivated`;
  return isBot || isGuest ? `${id} is a ${isBot ? "bot" : "guest"}` : null;
}

type Tried<Value> = { readonly value: Value } | { readonly error: string };

async function tryCall<Value>(call: () => Promise<Value>): Promise<Tried<Value>> {
  try {
    return { value: await call() };
  } catch (error) {
    if (error instanceof z.ZodError) return { error: "Slack's answer cannot be read" };
    if (error instanceof PortError) return { error: error.message };
    throw error;
  }
}
