// Performs one effect: makes its port call and returns its outcome.

import { sentReason } from "../domain/approval-transitions.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import type { MessageTs } from "../domain/ids.ts";
import { countApprovers, findPeople } from "./find-approvers.ts";
import { groupsOfRequester, SHOWN_AGE_MS } from "./fresh-facts.ts";
import type { PostedMessage } from "../domain/posted-message.ts";
import { renderKey } from "../domain/render-key.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import { OPENING, type Slot } from "../domain/slot.ts";
import { type AgentService, type Chat, type People, PortError } from "../ports.ts";
import { lookUpPrecedents, type PrecedentDeps } from "./precedents.ts";

export type Perform = (run: Run, effect: Effect) => Promise<Outcome>;

type PerformDeps = PrecedentDeps & {
  readonly agents: AgentService;
  readonly chat: Chat;
  readonly people: People;
};

/** The function rejects only for a fault in Countersign. A failed call is an outcome. */
export function createPerform(deps: PerformDeps): Perform {
  return async (run, effect) => {
    try {
      return await callPort(run, effect, deps);
    } catch (error) {
      return outcomeOf(error);
    }
  };
}

/** Returns the outcome of a failed port call. Rethrows every other error, because it is a fault in Countersign. */
export function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof PortError)) throw error;
  const { code, publicMessage: words } = error;
  if (error.applied === "maybe") return { type: "unsure", why: words, code };
  if (error.retry === "never") return { type: "refused", words, code };
  return { type: "later", afterMs: error.retryAfterMs, why: words, code };
}

async function callPort(run: Run, effect: Effect, deps: PerformDeps): Promise<Outcome> {
  const { agents, chat, people, context } = deps;
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
      return updateMessage(run, effect.slot, chat);
    case "upload":
      return { type: "uploaded", ...(await chat.upload(run, effect.slot)) };
    case "share":
    case "find-file":
      return performFileAct(run, effect, chat);
    case "send-notice":
      return sendNotice(run, effect.notice, chat);
    case "count-approvers":
      return countApprovers(run, effect, people, context());
    case "find-people":
      return findPeople(run, effect, people, context());
    case "look-up-requester":
      return { type: "groups-known", in: await groupsOfRequester(people, run, SHOWN_AGE_MS) };
    case "look-up-precedents":
      return lookUpPrecedents(deps, run, effect.approval);
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
  const { content: asked, volatile } = approval.request;
  return agents.sendDecision(id, approval.serviceId, {
    verdict: decision.verdict,
    reason: sentReason(decision),
    asked,
    ...(volatile === undefined ? {} : { volatile }),
  });
}

/** One Slack message of a run or a notification. Every call rejects with PortError. */
export type SlackMessage = {
  /** The render key of the message that `post` draws. */
  readonly shows: string;
  post(): Promise<MessageTs>;
  /** Resolves to all copies of the message, oldest first. */
  find(): Promise<readonly MessageTs[]>;
  remove(ts: MessageTs): Promise<void>;
};

function messageOf(run: Run, slot: Slot, chat: Chat): SlackMessage {
  return {
    shows: renderKey(run, slot) ?? "",
    post: () => chat.post(run, slot),
    find: () => chat.find(run, slot),
    remove: (ts) => chat.remove(run, slot, ts),
  };
}

/** "sweep" removes every copy except the message that is up. Rejects with PortError. */
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

async function updateMessage(run: Run, slot: Slot, chat: Chat): Promise<Outcome> {
  const post = run.posts[slot];
  if (post?.type !== "up") return { type: "later", afterMs: null, why: "not posted yet" };
  const answer = await chat.update(run, slot, post.ts);
  if (answer === "gone") return { type: "gone" };
  // A stale opening does less harm than a second thread. Any other message is removed, with its buttons, and posted again.
  if (answer === "unchangeable" && slot !== OPENING) {
    await chat.remove(run, slot, post.ts);
    return { type: "gone" };
  }
  return { type: "updated", shows: renderKey(run, slot) ?? "" };
}

async function performFileAct(
  run: Run,
  effect: { type: "share" | "find-file"; slot: Slot },
  chat: Chat,
): Promise<Outcome> {
  const upload = run.uploads[effect.slot];
  if (upload === undefined || !("file" in upload)) return { type: "gone" };
  if (effect.type === "find-file") return { type: "file-found", there: await chat.hasFile(run, upload.file) };
  return { type: await chat.share(run, upload.file, effect.slot) };
}

async function sendNotice(run: Run, id: string, chat: Chat): Promise<Outcome> {
  const notice = run.notices.find((candidate) => candidate.id === id);
  if (notice !== undefined) await chat.notify(run, notice.to, notice.says);
  return { type: "told" };
}
