// Who is mentioned by a call: the people who can still decide the request, looked up when the call is due.

import { ruleOf } from "../domain/applied-rule.ts";
import { decidersOf } from "../domain/approval-transitions.ts";
import type { Approval } from "../domain/approval.ts";
import type { Context } from "../domain/context.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import type { GroupId, UserId } from "../domain/ids.ts";
import type { Rule } from "../domain/policy/policy.ts";
import type { NamedPeople } from "../domain/policy/principals.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { type Asking, isAble } from "./count-approvers.ts";

/** More people than this are called as the group that they are, or not at all. A message mentions at most so many. */
const FEW = 20;
const AGE_MS = 60_000;

type Found = { readonly user: UserId; readonly escalated: boolean };

/** Rejects with PortError when Slack does not answer. */
export async function findPeople(
  run: Run,
  effect: Extract<Effect, { type: "find-people" }>,
  people: Asking,
  ctx: Pick<Context, "policy" | "now" | "monotonic">,
): Promise<Outcome> {
  const approval = findApproval(run, effect.approval);
  const call = approval?.calls?.find(({ n }) => n === effect.call);
  if (approval === null || call === undefined) return { type: "gone" };
  const rule = ruleOf(ctx, run, approval);
  const { found, groups } = await namedBy(rule, people);
  const skipped = silent(approval, ctx.monotonic);
  const asked = inOrder(approval, found).filter(({ user }) => !skipped.includes(user));
  const able = await Promise.all(asked.map((each) => isAble(run, rule, each, people)));
  const users = asked.filter((_, at) => able[at]).map(({ user }) => user);
  if (call.first !== undefined && users.includes(call.first))
    return { type: "people-found", users: [call.first], groups: [], more: 0 };
  // At the end of the time the requester is told as well.
  const all = call.says === "over" ? [...new Set([run.requester, ...users])] : users;
  const shown = all.slice(0, FEW);
  return {
    type: "people-found",
    users: shown,
    groups: groups.slice(0, FEW),
    more: all.length - shown.length,
  };
}

/** People who have approved it already, and who asked to be left alone for a while. */
function silent(approval: Approval, monotonic: number): readonly UserId[] {
  const { claim } = approval.followUp ?? {};
  const snoozes = claim?.snoozedUntil !== undefined && claim.snoozedUntil > monotonic;
  return [...decidersOf(approval), ...(snoozes ? [claim.by] : [])];
}

/** Who looks at the request comes first. */
function inOrder({ followUp }: Approval, found: readonly Found[]): readonly Found[] {
  const first = followUp?.claim?.by;
  return found.toSorted((a, b) => Number(b.user === first) - Number(a.user === first));
}

/** Of a rule for anyone, only the people that its card mentions: being in a channel is no reason to be called. */
async function namedBy(
  { approvers, escalated, mention }: Rule,
  people: Asking,
): Promise<{ readonly found: readonly Found[]; readonly groups: readonly GroupId[] }> {
  const usual = approvers === "anyone" ? { ...mention, channels: [] } : approvers;
  const [later, named] = await Promise.all([expanded(escalated ?? NO_ONE, people), expanded(usual, people)]);
  const users = [...new Set([...later.users, ...named.users])];
  return {
    found: users.map((user) => ({ user, escalated: later.users.includes(user) })),
    groups: [...new Set([...later.groups, ...named.groups])],
  };
}

const NO_ONE: NamedPeople = { users: [], groups: [], channels: [] };

async function expanded(
  { users, groups, channels }: NamedPeople,
  { membersOf }: Asking,
): Promise<{ readonly users: readonly UserId[]; readonly groups: readonly GroupId[] }> {
  const ofGroups = await Promise.all(groups.map((group) => membersOf(group, AGE_MS)));
  const ofChannels = await Promise.all(channels.map((channel) => membersOf(channel, AGE_MS)));
  const few = [...ofGroups, ...ofChannels].filter((members) => members.length <= FEW);
  return {
    users: [...new Set([...users, ...few.flat()])],
    groups: groups.filter((_, at) => (ofGroups[at]?.length ?? 0) > FEW),
  };
}
