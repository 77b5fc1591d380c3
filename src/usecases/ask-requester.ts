// A question to the requester, and the answer: in a form, or as a message in the run's thread that names Countersign.

import type { Approval } from "../domain/approval.ts";
import {
  answer,
  ask,
  openQuestions,
  questionSlot,
  questionsOf,
  refusalToAnswer,
  refusalToAsk,
} from "../domain/question.ts";
import type { Question } from "../domain/follow-up.ts";
import type { ChannelId, MessageTs, Nonce, TeamId, UserId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { findApproval, OPENING, type Run } from "../domain/run.ts";
import {
  type Act,
  type Acting,
  findFollowUpForm,
  type Handled,
  handleRequest,
  type Handling,
  mayHandle,
  type MayAct,
  openFollowUpForm,
} from "./handle-request.ts";
import { type Click, type ClickedCard, findCard, type OpenedForm, type Submitter } from "./open-form.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** They reject with PortError when it could not be stored. */
export type AskRequester = {
  open(click: Click): Promise<Result<OpenedForm, RefusedAttempt>>;
  /** The same form asks once. */
  ask(by: Submitter, nonce: Nonce | null, text: string): Promise<Handled>;
  openAnswer(click: Click): Promise<Result<OpenedForm, RefusedAttempt>>;
  answer(by: Submitter, nonce: Nonce | null, text: string): Promise<Handled>;
  /** Null: no question to this person waits for an answer in this thread, or has waited in vain, so their message is none. */
  answerInThread(message: ThreadMessage): Promise<Handled | "several" | null>;
};

export type ThreadMessage = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly thread: MessageTs;
  readonly ts: MessageTs;
  readonly text: string;
};

export function createAskRequester(deps: DecideDeps): AskRequester {
  return {
    open: (click) => open(deps, click),
    ask: (by, nonce, text) => askIn(deps, by, nonce, text),
    openAnswer: (click) => openAnswer(deps, click),
    answer: (by, nonce, text) => answerIn(deps, by, nonce, text),
    answerInThread: (message) => answerInThread(deps, message),
  };
}

const mayAsk: MayAct = (approval, acting, seen) =>
  mayHandle(approval, acting, seen) ?? refusalToAsk(approval);

async function open(deps: DecideDeps, click: Click): Promise<Result<OpenedForm, RefusedAttempt>> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "ask" });
  return openFollowUpForm(deps, click, found.value, { step: "ask", asks: "question", refusalTo: mayAsk });
}

async function askIn(deps: DecideDeps, by: Submitter, nonce: Nonce | null, text: string): Promise<Handled> {
  const form = await findFollowUpForm(deps, by, nonce, { step: "ask", asks: "question" });
  if (!form.ok) return form;
  const { nonce: id } = form.value.ticket;
  return handleRequest(deps, by, form.value, {
    act: (approval, acting) => askIt(approval, acting, { id, text }),
  });
}

function askIt(
  approval: Approval,
  { rule, by: { user }, ctx }: Acting,
  { id, text }: { readonly id: Nonce; readonly text: string },
): ReturnType<Act> {
  const asked = ask(approval, { id, by: user, text, rule }, ctx);
  if (!asked.ok) return asked;
  const entry = { what: "asked", outcome: "asked", digest: ctx.digest(text), text } as const;
  return ok({ approval: asked.value, entry });
}

/** The button's nonce is the approval's; which question it is, only the message says that holds it. */
async function openAnswer(deps: DecideDeps, click: Click): Promise<Result<OpenedForm, RefusedAttempt>> {
  const found = await findAsked(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "answer" });
  const { card, question } = found.value;
  const refusalTo: MayAct = (approval, acting) => mayAnswer(question, approval, acting);
  return openFollowUpForm(deps, click, card, { step: "answer", asks: "answer", question, refusalTo });
}

type Asked = { readonly card: ClickedCard; readonly question: Nonce };

async function findAsked(
  { store }: Pick<DecideDeps, "store">,
  click: Click,
): Promise<Result<Asked, RefusedAttempt>> {
  const button = click.nonce === null ? null : await store.byButton(click.nonce);
  const run = button === null ? null : ((await store.load(button.run))?.run ?? null);
  const approval = run === null || button === null ? null : findApproval(run, button.approval);
  if (run === null || approval === null || run.team !== click.team || run.channel !== click.channel)
    return err({ refusal: { type: "unknown" }, run: null });
  const slots = questionsOf(approval).map(({ id }) => ({ id, post: run.posts[questionSlot(id)] }));
  const asked = slots.find(({ post }) => post?.type === "up" && post.ts === click.ts);
  if (asked !== undefined)
    return ok({ card: { run, approval, version: approval.version }, question: asked.id });
  const onItsWay = slots.some(({ post }) => post?.type === "sending" || post?.type === "unsure");
  return onItsWay
    ? err({ refusal: { type: "being-posted" }, run })
    : err({ refusal: { type: "unknown" }, run: null });
}

function mayAnswer(
  id: Nonce,
  approval: Approval,
  { run, by }: Pick<Acting, "run" | "by">,
): ReturnType<MayAct> {
  const question = questionsOf(approval).find((each) => each.id === id);
  return question === undefined ? { type: "unknown" } : refusalToAnswer({ approval, question }, run, by);
}

async function answerIn(
  deps: DecideDeps,
  by: Submitter,
  nonce: Nonce | null,
  text: string,
): Promise<Handled> {
  const form = await findFollowUpForm(deps, by, nonce, { step: "answer", asks: "answer" });
  if (!form.ok) return form;
  const { question } = form.value.ticket;
  if (question === undefined)
    return refused(deps, { refusal: { type: "unknown" }, run: null }, by, { step: "answer" });
  return answerQuestion(deps, by, form.value, { id: question, text });
}

function answerQuestion(
  deps: DecideDeps,
  by: Submitter,
  handling: Handling,
  { id, text, message }: Given,
): Promise<Handled> {
  const isRepeated = (approval: Approval): boolean => isAnsweredSo(approval, id, by.user, text);
  const mayAct: MayAct = (approval, acting) =>
    isRepeated(approval) ? null : mayAnswer(id, approval, acting);
  return handleRequest(deps, by, handling, {
    act: (approval, acting) =>
      answerIt({ approval, id, text, message, isRepeated: isRepeated(approval) }, acting),
    mayAct,
  });
}

/** `message`: of the thread; undefined: it is in the form. */
type Given = { readonly id: Nonce; readonly text: string; readonly message?: MessageTs | undefined };

type Answering = Given & { readonly approval: Approval; readonly isRepeated: boolean };

function answerIt(
  { approval, id, text, message, isRepeated }: Answering,
  { by: { user }, ctx }: Acting,
): ReturnType<Act> {
  const entry = { what: "answered", outcome: "answered", digest: ctx.digest(text), text } as const;
  const question = questionsOf(approval).find((each) => each.id === id);
  if (question === undefined || isRepeated) return ok({ approval, entry });
  const given = { by: user, text, ...(message === undefined ? {} : { message }) };
  const answered = answer({ approval, question }, given, ctx);
  return answered.ok ? ok({ approval: answered.value, entry }) : answered;
}

const isAnsweredSo = (approval: Approval, id: Nonce, user: UserId, text: string): boolean =>
  questionsOf(approval).some(
    ({ id: each, answer: given }) => each === id && given?.by === user && given.text === text,
  );

/** Runs that are read for one message. Apart from the thread's own, only texts that somebody wrote can name it. */
const MAX_RUNS = 100;

/**
 * Slack delivers some messages twice, and people send some twice. The very message that was an answer is that answer again. Another one in
 * the same words is a repeat only where no question is open: "yes" may answer the next question, too.
 */
async function answerInThread(
  deps: DecideDeps,
  { team, user, channel, thread, ts, text }: ThreadMessage,
): Promise<Handled | "several" | null> {
  const mine = { channels: [channel], only: "all", asked: { by: user } } as const;
  const runs = await deps.store.list({ ...mine, names: thread, limit: MAX_RUNS });
  const run = runs.find((each) => isThread(each, team, thread));
  if (run === undefined) return null;
  const where = (is: (approval: Approval, question: Question) => boolean) =>
    run.approvals.flatMap((approval) =>
      questionsOf(approval).flatMap((each) => (is(approval, each) ? [{ approval, id: each.id }] : [])),
    );
  const open = where((approval, each) => openQuestions(approval).includes(each));
  const before = where((approval, { id }) => isAnsweredSo(approval, id, user, text));
  const given = before.filter(({ approval, id }) =>
    questionsOf(approval).some((each) => each.id === id && each.answer?.message === ts),
  );
  // Their request is decided or closed: a late answer must not become the task of a new run.
  const over = where((approval, each) => approval.state.type !== "pending" && each.answer === undefined);
  const late = before.length > 0 ? before.slice(0, 1) : over.slice(-1);
  const [found, ...more] = given.length > 0 ? given : open.length > 0 ? open : late;
  if (found === undefined) return null;
  if (more.length > 0) return "several";
  const { request, id, version } = found.approval;
  const handling = { run, approval: id, version, saw: request, was: null, step: "answer" } as const;
  return answerQuestion(deps, { team, user }, handling, { id: found.id, text, message: ts });
}

function isThread({ posts, team }: Run, of: TeamId, thread: MessageTs): boolean {
  const opening = posts[OPENING];
  return team === of && opening?.type === "up" && opening.ts === thread;
}
