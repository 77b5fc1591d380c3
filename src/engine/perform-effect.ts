// Performs one effect: one effect, its port call, its outcome.

import { sentReason } from "../domain/approval-transitions.ts";
import type { Context } from "../domain/context.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import { cardSlot, findApproval, OPENING, type Run, runId, type Slot, UNREADABLE } from "../domain/run.ts";
import { renderKey } from "../domain/render-key.ts";
import { countApprovers } from "./count-approvers.ts";
import { type AgentService, type Chat, type PacedEffect, type People, PortError } from "../ports.ts";

export type Perform = (run: Run, effect: Effect) => Promise<Outcome>;

type World = {
  readonly agents: AgentService;
  readonly chat: Chat;
  readonly people: People;
  readonly context: () => Pick<Context, "policy">;
};

export function createPerform(world: World): Perform {
  return async (run, effect) => {
    try {
      return await attempt(run, effect, world);
    } catch (error) {
      if (error instanceof PortError) return outcomeOf(error);
      throw error;
    }
  };
}

export function outcomeOf(error: PortError): Outcome {
  const { code, message } = error;
  if (error.applied === "maybe") return { type: "unsure", why: message, code };
  if (error.retry === "never") return { type: "refused", words: message, code };
  return { type: "later", afterMs: error.retryAfterMs, why: message, code };
}

async function attempt(run: Run, effect: Effect, { agents, chat, people, context }: World): Promise<Outcome> {
  switch (effect.type) {
    case "create-run":
      return { type: "created", snapshot: await agents.create(run.input, run.key) };
    case "send-decision":
      return sendDecision(run, effect, agents);
    case "post":
      return {
        type: "posted",
        ts: await chat.post(run, effect.slot),
        shows: renderKey(run, effect.slot) ?? "",
      };
    case "find":
      return { type: "found", copies: await chat.find(run, effect.slot) };
    case "update":
      return update(run, effect.slot, chat);
    case "sweep":
      return sweep(run, effect.slot, chat);
    case "upload":
      return { type: "uploaded", ...(await chat.upload(run, effect.slot)) };
    case "share":
    case "find-file":
      return file(run, effect, chat);
    case "tell":
      return tell(run, effect.tell, chat);
    case "count-approvers":
      return countApprovers(run, effect, people, context().policy);
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

async function sweep(run: Run, slot: Slot, chat: Chat): Promise<Outcome> {
  const post = run.posts[slot];
  if (post?.type !== "up") return { type: "swept" };
  const copies = await chat.find(run, slot);
  for (const copy of copies) if (copy !== post.ts) await chat.remove(run, copy);
  return { type: "swept" };
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

/** Null: the effect does not go to Slack. Urgency 0: buttons off and new cards; 1: outcomes and private notices; 2: the rest. */
export function paceOf(run: Run, effect: Effect): PacedEffect | null {
  const { channel } = run;
  switch (effect.type) {
    case "create-run":
    case "send-decision":
    case "count-approvers":
      return null;
    case "post":
      return { channel, kind: "post", urgency: isCard(run, effect.slot) ? 0 : 1 };
    case "update":
      return { channel, kind: "update", urgency: isCard(run, effect.slot) ? 0 : 2 };
    case "find":
    case "sweep":
    case "find-file":
      return { channel, kind: "read", urgency: 1 };
    case "share":
      return { channel, kind: "post", urgency: 1 };
    case "upload":
    case "tell":
      return { channel, kind: "other", urgency: 1 };
  }
}

function isCard(run: Run, slot: string): boolean {
  return slot === UNREADABLE || run.approvals.some((approval) => cardSlot(approval.id) === slot);
}
