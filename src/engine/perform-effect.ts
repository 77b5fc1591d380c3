// Performs one effect: one effect, its port call, its outcome. Below, how the approvers are counted.

import { countKeyOf, ruleOf } from "../domain/applied-rule.ts";
import { sentReason } from "../domain/approval-transitions.ts";
import { refusalToDecide } from "../domain/authorization.ts";
import { digestPages, isStormSlot } from "../domain/storm.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import { ChannelId, type MessageTs, parsed, type UserId } from "../domain/ids.ts";
import { type Policy, type Rule } from "../domain/policy/policy.ts";
import { groupsAndChannelsOf } from "../domain/policy/principals.ts";
import type { PostedMessage } from "../domain/posted-message.ts";
import { isPassing, mayShowButtons, renderKey, STOPPED } from "../domain/render-key.ts";
import {
  cardSlot,
  digestSlot,
  findApproval,
  isStoppable,
  isStopped,
  OPENING,
  type Run,
  runId,
  type Slot,
  UNREADABLE,
} from "../domain/run.ts";
import { type AgentService, type Chat, type PacedEffect, type People, PortError } from "../ports.ts";
import { lookUpPrecedents, type PrecedentDeps } from "./precedents.ts";

export type Perform = (run: Run, effect: Effect) => Promise<Outcome>;

type World = PrecedentDeps & {
  readonly agents: AgentService;
  readonly chat: Chat;
  readonly people: People;
};

export function createPerform(world: World): Perform {
  return async (run, effect) => {
    try {
      return await attempt(run, effect, world);
    } catch (error) {
      return outcomeOf(error);
    }
  };
}

/** Rethrows what is not a port's error: a fault in Countersign. */
export function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof PortError)) throw error;
  const { code, publicMessage: words } = error;
  if (error.applied === "maybe") return { type: "unsure", why: words, code };
  if (error.retry === "never") return { type: "refused", words, code };
  return { type: "later", afterMs: error.retryAfterMs, why: words, code };
}

async function attempt(run: Run, effect: Effect, world: World): Promise<Outcome> {
  const { agents, chat, people, context } = world;
  switch (effect.type) {
    case "create-run":
      return { type: "created", snapshot: await agents.create(run.input, run.key) };
    case "send-decision":
      return sendDecision(run, effect, agents);
    case "post":
    case "find":
    case "sweep":
      return performMessageAct(effect.type, run.posts[effect.slot], messageOf(run, effect.slot, chat));
    case "update":
      return update(run, effect.slot, chat);
    case "upload":
      return { type: "uploaded", ...(await chat.upload(run, effect.slot)) };
    case "share":
    case "find-file":
      return file(run, effect, chat);
    case "tell":
      return tell(run, effect.tell, chat);
    case "count-approvers":
      return countApprovers(run, effect, people, context().policy);
    case "look-up-precedents":
      return lookUpPrecedents(world, run, effect.approval);
  }
}

async function sendDecision(
  run: Run,
  effect: Extract<Effect, { type: "send-decision" }>,
  agents: AgentService,
): Promise<Outcome> {
  const id = runId(run);
  const approval = findApproval(run, effect.approval);
  if (id === null || approval?.state.type !== "decided")
    return { type: "later", afterMs: null, why: "nothing to send" };
  const { decision } = approval.state;
  return agents.sendDecision(id, approval.serviceId, {
    verdict: decision.verdict,
    reason: sentReason(decision),
    asked: approval.request.content,
  });
}

/** One message, of a run or a notification, as Slack has it. */
export type SlackMessage = {
  /** The render key of what `post` shows. */
  readonly shows: string;
  post(): Promise<MessageTs>;
  /** All copies, oldest first. */
  find(): Promise<readonly MessageTs[]>;
  remove(ts: MessageTs): Promise<void>;
};

function messageOf(run: Run, slot: Slot, chat: Chat): SlackMessage {
  return {
    shows: renderKey(run, slot) ?? "",
    post: () => chat.post(run, slot),
    find: () => chat.find(run, slot),
    remove: (ts) => chat.remove(run, ts),
  };
}

/** Rejects as the port does. */
export async function performMessageAct(
  act: "post" | "find" | "sweep",
  post: PostedMessage | undefined,
  message: SlackMessage,
): Promise<Outcome> {
  if (act === "post") return { type: "posted", ts: await message.post(), shows: message.shows };
  if (act === "find") return { type: "found", copies: await message.find() };
  if (post?.type !== "up") return { type: "swept" };
  for (const copy of await message.find()) if (copy !== post.ts) await message.remove(copy);
  return { type: "swept" };
}

async function update(run: Run, slot: Slot, chat: Chat): Promise<Outcome> {
  const post = run.posts[slot];
  if (post?.type !== "up") return { type: "later", afterMs: null, why: "not posted yet" };
  const answer = await chat.update(run, slot, post.ts);
  if (answer === "gone") return { type: "gone" };
  // A stale opening does less harm than a second thread. Any other message is removed, with its buttons, and posted anew.
  if (answer === "unchangeable" && slot !== OPENING) {
    await chat.remove(run, post.ts);
    return { type: "gone" };
  }
  return { type: "updated", shows: renderKey(run, slot) ?? "" };
}

async function file(
  run: Run,
  effect: { type: "share" | "find-file"; slot: Slot },
  chat: Chat,
): Promise<Outcome> {
  const upload = run.uploads[effect.slot];
  if (upload === undefined || !("file" in upload)) return { type: "gone" };
  if (effect.type === "find-file") return { type: "file-found", there: await chat.hasFile(run, upload.file) };
  return { type: await chat.share(run, upload.file, effect.slot) };
}

async function tell(run: Run, id: string, chat: Chat): Promise<Outcome> {
  const found = run.notices.find((each) => each.id === id);
  if (found !== undefined) await chat.notify(run, found.to, found.says);
  return { type: "told" };
}

// Slack accepts about one message a second per channel and fifty updates a minute, so urgent effects go first.

/**
 * Null: the effect does not go to Slack. Of a post, urgency 0: what lists many requests; 1: a card; 2: the rest; 3: what was decided
 * before it had a card. Of any other effect, 0: buttons off; 1: the end of a decision or a run, and private notices; 2: the rest; 3:
 * states of a run that may be over soon.
 */
export function paceOf(run: Run, effect: Effect): PacedEffect | null {
  const { channel } = run;
  switch (effect.type) {
    case "create-run":
    case "send-decision":
    case "count-approvers":
    case "look-up-precedents":
      return null;
    case "post":
      return { channel, kind: "post", urgency: postUrgencyOf(run, effect.slot) };
    case "update":
      return {
        channel,
        kind: "update",
        urgency: urgencyOf(run, effect.slot),
        ...messageAt(run, effect.slot),
      };
    case "find":
    case "sweep":
    case "find-file":
      return { channel, kind: "read", urgency: 1 };
    case "share":
      return { channel, kind: "post", urgency: 1 };
    case "upload":
      return { channel, kind: "other", urgency: 1 };
    case "tell":
      return paceOfNotice(run, effect.tell);
  }
}

function urgencyOf(run: Run, slot: Slot): PacedEffect["urgency"] {
  const card = run.approvals.find((approval) => cardSlot(approval.id) === slot);
  if (slot === UNREADABLE || isDigest(run, slot)) return 0;
  // Its number is wrong for as long as it waits behind the openings of all the runs that now await approval.
  if (isStormSlot(slot)) return 1;
  if (card !== undefined && card.state.type !== "pending") return mayShowButtons(run.posts[slot]) ? 0 : 1;
  // A stop that is over has a button that does nothing any more. A stop that holds only counts what it denied.
  if (slot === STOPPED) return isStopped(run) && isStoppable(run) ? 3 : 1;
  if (slot !== OPENING) return 2;
  return isPassing(run) ? 3 : (run.seen?.ended ?? null) === null ? 2 : 1;
}

/** To a channel it is a message like any other there. */
function paceOfNotice({ channel, notices }: Run, id: string): PacedEffect {
  const to = parsed(ChannelId, notices.find((each) => each.id === id)?.to);
  return to === null ? { channel, kind: "other", urgency: 1 } : { channel: to, kind: "post", urgency: 2 };
}

function messageAt({ posts }: Run, slot: Slot): Pick<PacedEffect, "message"> {
  const post = posts[slot];
  return post?.type === "up" ? { message: post.ts } : {};
}

/**
 * What lists many requests comes before the card of one. The card of an approval that a digest listed until it was decided comes after
 * everything that can still be decided.
 */
function postUrgencyOf(run: Run, slot: Slot): PacedEffect["urgency"] {
  if (slot === UNREADABLE || isDigest(run, slot) || isStormSlot(slot)) return 0;
  const card = run.approvals.find((approval) => cardSlot(approval.id) === slot);
  if (card === undefined) return 2;
  return card.state.type === "pending" || card.listing === undefined ? 1 : 3;
}

const isDigest = (run: Run, slot: Slot): boolean =>
  digestPages(run).some((page) => digestSlot(page) === slot);

// Counts whether enough people can approve a request, when its card is posted, so that people do not wait in vain.

/** This age (ms) is enough for display; a person who clicks is looked up again. */
const AGE_MS = 60_000;
/** How many members of a group are asked about. If too few of them may approve, the count of a larger group is unknown. */
const ASKED_AT_MOST = 100;
const AT_ONCE = 5;

type Counting = Pick<People, "lookUp" | "membersOf" | "isPublic">;

async function countApprovers(
  run: Run,
  effect: Extract<Effect, { type: "count-approvers" }>,
  people: Counting,
  policy: Policy,
): Promise<Outcome> {
  const approval = findApproval(run, effect.approval);
  if (approval === null) return { type: "gone" };
  const of = countKeyOf(approval);
  const rule = ruleOf(policy, run, approval.request);
  try {
    const grows = rule.approvers === "anyone" && (await people.isPublic(run.channel, AGE_MS));
    return { type: "counted", of, able: await countAble(run, rule, people), grows };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { type: "counted", of, able: null, grows: false };
  }
}

/** Counts no further than the rule needs. Null: there are too many people to ask about all. */
async function countAble(run: Run, rule: Rule, people: Counting): Promise<number | null> {
  const candidates = await candidatesOf(run, rule, people);
  let able = 0;
  for (let from = 0; from < Math.min(candidates.length, ASKED_AT_MOST); from += AT_ONCE) {
    const some = candidates.slice(from, Math.min(from + AT_ONCE, ASKED_AT_MOST));
    const found = await Promise.all(some.map((user) => isAble(run, rule, user, people)));
    able += found.filter(Boolean).length;
    if (able >= rule.needs) return rule.needs;
  }
  return candidates.length > ASKED_AT_MOST ? null : able;
}

async function candidatesOf(
  { channel }: Run,
  { approvers }: Rule,
  { membersOf }: Counting,
): Promise<UserId[]> {
  const sets = approvers === "anyone" ? [channel] : groupsAndChannelsOf(approvers);
  const members = await Promise.all(sets.map((set) => membersOf(set, AGE_MS)));
  return [...new Set([...(approvers === "anyone" ? [] : approvers.users), ...members.flat()])];
}

/** The caller takes people from the rule's approvers only; `refusalToDecide` judges the rest. */
async function isAble(run: Run, rule: Rule, user: UserId, people: Counting): Promise<boolean> {
  if (user === run.requester && !rule.selfApproval) return false;
  try {
    const person = await people.lookUp(run.team, user, run.channel, AGE_MS);
    return refusalToDecide(person, run, { ...rule, approvers: "anyone" }) === null;
  } catch (error) {
    // A person whom Slack does not know can't approve anything.
    if (error instanceof PortError && error.code === "user_not_found") return false;
    throw error;
  }
}
