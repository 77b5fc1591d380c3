// Checks that Slack knows the channels, people and groups that the configuration and the policy name, and that the app is in its channels.

import { z } from "zod";
import { slackChannels, slackGroup, slackUser } from "../../adapters/slack/answers.ts";
import type { Call } from "../../adapters/slack/clients.ts";
import type { Config } from "../../config.ts";
import { idsNamedIn, type Policy } from "../../domain/policy/policy.ts";
import { PortError } from "../../ports.ts";
import { REINSTALL } from "./check-slack.ts";
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
const LINT_EXCEPTED = "To check all of them, set SLACK_BOT_TOKEN and run: npm run policy -- lint FILE";
const COPY_ID =
  "Copy the id again from Slack: ⋮ in a person's profile, or at the end of a channel's details.";

const AGAIN =
  "Run the doctor again in a minute. If this persists, check that this machine can reach Slack, and that no other program uses this token.";

/** How many ids of one list are looked up. Each takes one call, and a running bot needs calls too. */
const MOST = {
  /** users.info is Tier 4, 100 or more a minute. */
  people: 40,
  /** conversations.info is Tier 3, 50 or more a minute. */
  channels: 20,
  /** usergroups.users.list is Tier 2, 20 or more a minute. */
  groups: 10,
} as const;

function kindOf(id: string): keyof typeof MOST {
  if (id.startsWith("S")) return "groups";
  return /^[CG]/.test(id) ? "channels" : "people";
}

const toAsk = (ids: Iterable<string>): readonly string[] =>
  [...Map.groupBy(ids, kindOf)].flatMap(([kind, named]) => named.slice(0, MOST[kind]));

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
  const asked = toAsk(excepted.keys());
  const { faulty = [], unchecked } = await doubtsOf(call, asked);
  const says = faulty.map(({ id, words }) => {
    const rules = excepted.get(id)?.map((rule) => `"${rule}"`) ?? [];
    return `${words}, and it is excepted by ${rules.join(", ")}`;
  });
  return [
    ...(says.length === 0 ? [] : [bad(IN_POLICY, says.join("; "), SEE_EXCEPTED)]),
    ...uncheckedFindings({ what: IN_POLICY, unknown: bad }, unchecked),
    ...leftFindings(excepted.size - asked.length),
  ];
}

function leftFindings(left: number): Finding[] {
  if (left === 0) return [];
  const says =
    left === 1 ? "1 more channel that rules except was" : `${left} more channels that rules except were`;
  return [note(IN_POLICY, `${says} not checked`, LINT_EXCEPTED)];
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
  if ("error" in found && found.todo !== "") {
    const doubt = { id: channel, words: found.error, todo: found.todo };
    return uncheckedFindings({ what: AUDIT_CHANNEL, unknown: bad }, [doubt]);
  }
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
  const asked = toAsk(ids);
  const { faulty = [], unchecked = [] } = await doubtsOf(call, asked);
  const rest = ids.length - asked.length;
  const left = rest === 0 ? "" : `; ${rest} more ${rest === 1 ? "id was" : "ids were"} not checked`;
  if (faulty.length + unchecked.length === 0)
    return [good(what, `Slack knows all ids that are named there (${asked.length})${left}`)];
  if (faulty.length === 0) return uncheckedFindings({ what, unknown }, unchecked, left);
  const says = faulty.map(({ words }) => words).join("; ");
  return [unknown(what, `${says}${left}`, COPY_ID), ...uncheckedFindings({ what, unknown }, unchecked)];
}

/** `todo`: as in `Tried`. */
type Doubt = { readonly id: string; readonly words: string; readonly todo: string };

function uncheckedFindings(
  { what, unknown }: Pick<Ids, "what" | "unknown">,
  doubts: readonly Doubt[] = [],
  left = "",
): Finding[] {
  return [...Map.groupBy(doubts, ({ todo }) => todo)].map(([todo, alike], at) => {
    const ids = alike.map(({ id }) => id).join(", ");
    const reasons = new Set(alike.map(({ words }) => words));
    const words = `${ids} could not be checked: ${[...reasons].join("; ")}${at === 0 ? left : ""}`;
    return unknown(what, words, todo);
  });
}

/** `unchecked`: ids about which Slack's answer, or its silence, says nothing. */
async function doubtsOf(
  call: Call,
  ids: readonly string[],
): Promise<{ readonly faulty?: Doubt[]; readonly unchecked?: Doubt[] }> {
  const doubts = await Promise.all(
    ids.map(async (id) => {
      const found = await tryCall(() => faultOf(call, id));
      if (!("error" in found))
        return found.value === null ? [] : [{ id, words: `${id} ${found.value}`, todo: "" }];
      const { error, todo } = found;
      return [{ id, words: todo === "" ? `${id}: ${error}` : error, todo }];
    }),
  );
  return Object.groupBy(doubts.flat(), ({ todo }) => (todo === "" ? "faulty" : "unchecked"));
}

/** Resolves to what Slack says is wrong with this id, or to null. */
async function faultOf(call: Call, id: string): Promise<string | null> {
  switch (kindOf(id)) {
    case "groups": {
      const members = slackGroup(await call("usergroups.users.list", { usergroup: id }));
      return members.length === 0 ? "is empty" : null;
    }
    case "channels":
      await call("conversations.info", { channel: id });
      return null;
    case "people": {
      const { deleted, isBot, isGuest } = slackUser(await call("users.info", { user: id }));
      if (deleted) return "is deactivated";
      return isBot || isGuest ? `is a ${isBot ? "bot" : "guest"}` : null;
    }
  }
}

type Tried<Value> =
  | { readonly value: Value }
  /** `todo`: what makes the call succeed, if its failure says nothing about what it asks for. Otherwise empty. */
  | { readonly error: string; readonly todo: string };

async function tryCall<Value>(call: () => Promise<Value>): Promise<Tried<Value>> {
  try {
    return { value: await call() };
  } catch (error) {
    if (error instanceof z.ZodError) return { error: "Slack's answer cannot be read", todo: AGAIN };
    if (error instanceof PortError) return { error: error.message, todo: todoOf(error) };
    throw error;
  }
}

function todoOf({ code, retry }: PortError): string {
  if (code === "missing_scope") return REINSTALL;
  return retry === "later" ? AGAIN : "";
}
