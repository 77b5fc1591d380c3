// One effect → one port call → what came of it. The only place where the runs' outside world is touched.

import type { Effect, Outcome } from "../core/effect.ts";
import { findApproval, OPENING, type Run, runId, type Slot } from "../core/run.ts";
import { shows } from "../core/shows.ts";
import { sentReason } from "../core/vote.ts";
import { countApprovers } from "./count-approvers.ts";
import type { People } from "./people.ts";
import { type AgentService, type Chat, PortError } from "./ports.ts";

export type Perform = (run: Run, effect: Effect) => Promise<Outcome>;

type World = { readonly agents: AgentService; readonly chat: Chat; readonly people: People };

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
  if (error.applied === "maybe") return { is: "unsure", why: message, code };
  if (error.retry === "never") return { is: "refused", words: message, code };
  return { is: "later", afterMs: error.retryAfterMs, why: message, code };
}

async function attempt(run: Run, effect: Effect, { agents, chat, people }: World): Promise<Outcome> {
  switch (effect.do) {
    case "create-run":
      return { is: "created", snapshot: await agents.create(run.input, run.key) };
    case "send-decision":
      return sendDecision(run, effect, agents);
    case "post":
      return { is: "posted", ts: await chat.post(run, effect.slot), shows: shows(run, effect.slot) ?? "" };
    case "find":
      return { is: "found", copies: await chat.find(run, effect.slot) };
    case "update":
      return update(run, effect.slot, chat);
    case "sweep":
      return sweep(run, effect.slot, chat);
    case "upload":
      return { is: "uploaded", ...(await chat.upload(run, effect.slot)) };
    case "share":
    case "find-file":
      return file(run, effect, chat);
    case "tell":
      return tell(run, effect.tell, chat);
    case "count-approvers":
      return countApprovers(run, effect, people);
  }
}

async function sendDecision(
  run: Run,
  effect: Extract<Effect, { do: "send-decision" }>,
  agents: AgentService,
): Promise<Outcome> {
  const id = runId(run);
  const approval = findApproval(run, effect.approval);
  if (id === null || approval?.state.is !== "decided")
    return { is: "later", afterMs: null, why: "nothing to send" };
  const { decision } = approval.state;
  return agents.resolve(id, approval.serviceId, { verdict: decision.verdict, reason: sentReason(decision) });
}

async function update(run: Run, slot: Slot, chat: Chat): Promise<Outcome> {
  const post = run.posts[slot];
  if (post?.is !== "up") return { is: "later", afterMs: null, why: "not posted yet" };
  const answer = await chat.update(run, slot, post.ts);
  if (answer === "gone") return { is: "gone" };
  // A stale opening does less harm than a second thread. Any other message gives way to a new one, and takes its buttons along.
  if (answer === "unchangeable" && slot !== OPENING) {
    await chat.remove(run, post.ts);
    return { is: "gone" };
  }
  return { is: "updated", shows: shows(run, slot) ?? "" };
}

async function sweep(run: Run, slot: Slot, chat: Chat): Promise<Outcome> {
  const post = run.posts[slot];
  if (post?.is !== "up") return { is: "swept" };
  const copies = await chat.find(run, slot);
  for (const copy of copies) if (copy !== post.ts) await chat.remove(run, copy);
  return { is: "swept" };
}

async function file(
  run: Run,
  effect: { do: "share" | "find-file"; slot: Slot },
  chat: Chat,
): Promise<Outcome> {
  const upload = run.uploads[effect.slot];
  if (upload === undefined || !("file" in upload)) return { is: "gone" };
  if (effect.do === "find-file") return { is: "file-found", there: await chat.hasFile(run, upload.file) };
  return { is: await chat.share(run, upload.file, effect.slot) };
}

async function tell(run: Run, id: string, chat: Chat): Promise<Outcome> {
  const found = run.tells.find((each) => each.id === id);
  if (found !== undefined) await chat.tell(run, found.to, found.says);
  return { is: "told" };
}
