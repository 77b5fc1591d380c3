// Questions to the requester, and their answers: in a form, or in a message in the run's thread that mentions Countersign.

import type { Approval } from "../domain/approval.ts";
import {
  answer,
  ask,
  hasQuestionOfChangedRequest,
  isAnswerToChangedRequest,
  openQuestions,
  questionSlot,
  questionsOf,
  refusalToAnswer,
  refusalToAsk,
} from "../domain/question.ts";
import type { Question } from "../domain/follow-up.ts";
import type { ChannelId, MessageTs, Nonce, TeamId, UserId, PersonId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import { OPENING } from "../domain/slot.ts";
import {
  type Act,
  type ActContext,
  findFollowUpForm,
  type Handled,
  handleRequest,
  type Handling,
  mayHandle,
  type MayAct,
  openFollowUpForm,
} from "./handle-request.ts";
import { approvalOfButton, type Click, type ClickedCard, findCard, type OpenedForm } from "./open-form.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** The methods reject with PortError if the question or the answer could not be stored. */
export type AskRequester = {
  open(click: Click): Promise<Result<OpenedForm, RefusedAttempt>>;
  /** A form asks only one question, even if it is submitted twice. */
  ask(by: PersonId, nonce: Nonce | null, text: string): Promise<Handled>;
  openAnswer(click: Click): Promise<Result<OpenedForm, RefusedAttempt>>;
  answer(by: PersonId, nonce: Nonce | null, text: string): Promise<Handled>;
  /** Resolves to null if the message is not an answer, because no question in this thread waits, or has waited in vain, for this person. */
  answerInThread(message: ThreadMessage): Promise<ThreadAnswer | null>;
};

/** "answered-before-change": the message, or one in the same words, was recorded as an answer, and the request has changed since. */
export type ThreadAnswer = Handled | "several" | "answered-before-change";

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

const mayAsk: MayAct = (approval, context, seen) =>
  mayHandle(approval, context, seen) ?? refusalToAsk(approval);

async function open(deps: DecideDeps, click: Click): Promise<Result<OpenedForm, RefusedAttempt>> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "ask" });
  return openFollowUpForm(deps, click, found.value, { step: "ask", asks: "question", refusalTo: mayAsk });
}

async function askIn(deps: DecideDeps, by: PersonId, nonce: Nonce | null, text: string): Promise<Handled> {
  const form = await findFollowUpForm(deps, by, nonce, { step: "ask", asks: "question" });
  if (!form.ok) return form;
  const { nonce: id } = form.value.ticket;
  return handleRequest(deps, by, form.value, {
    act: (approval, context) => askIt(approval, context, { id, text }),
  });
}

function askIt(
  approval: Approval,
  { rule, by: { user }, ctx }: ActContext,
  { id, text }: { readonly id: Nonce; readonly text: string },
): ReturnType<Act> {
  const asked = ask(approval, { id, by: user, text, rule }, ctx);
  if (!asked.ok) return asked;
  const entry = { what: "asked", outcome: "asked", digest: ctx.digest(text), text } as const;
  return ok({ approval: asked.value, entry });
}

/** The button carries the nonce of the approval. Only the message with the button shows which question is meant. */
async function openAnswer(deps: DecideDeps, click: Click): Promise<Result<OpenedForm, RefusedAttempt>> {
  const found = await findAsked(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step: "answer" });
  const { card, question } = found.value;
  const refusalTo: MayAct = (approval, context) => mayAnswer(question, approval, context);
  return openFollowUpForm(deps, click, card, { step: "answer", asks: "answer", question, refusalTo });
}

type ClickedQuestion = { readonly card: ClickedCard; readonly question: Nonce };

async function findAsked(
  deps: Pick<DecideDeps, "store" | "time">,
  click: Click,
): Promise<Result<ClickedQuestion, RefusedAttempt>> {
  const card = await approvalOfButton(deps, click.nonce);
  if (card === null || card.run.team !== click.team || card.run.channel !== click.channel)
    return err({ refusal: { type: "unknown" }, run: null });
  const { run, approval } = card;
  const slots = questionsOf(approval).map(({ id }) => ({ id, post: run.posts[questionSlot(id)] }));
  const clicked = slots.find(({ post }) => post?.type === "up" && post.ts === click.ts);
  if (clicked !== undefined)
    return ok({ card: { run, approval, version: approval.version }, question: clicked.id });
  const isBeingPosted = slots.some(({ post }) => post?.type === "sending" || post?.type === "unsure");
  return isBeingPosted
    ? err({ refusal: { type: "being-posted" }, run })
    : err({ refusal: { type: "unknown" }, run: null });
}

function mayAnswer(
  id: Nonce,
  approval: Approval,
  { run, by }: Pick<ActContext, "run" | "by">,
): ReturnType<MayAct> {
  const question = questionsOf(approval).find((each) => each.id === id);
  return question === undefined ? { type: "unknown" } : refusalToAnswer({ approval, question }, run, by);
}

async function answerIn(deps: DecideDeps, by: PersonId, nonce: Nonce | null, text: string): Promise<Handled> {
  const form = await findFollowUpForm(deps, by, nonce, { step: "answer", asks: "answer" });
  if (!form.ok) return form;
  const { question } = form.value.ticket;
  if (question === undefined)
    return refused(deps, { refusal: { type: "unknown" }, run: null }, by, { step: "answer" });
  return answerQuestion(deps, by, form.value, { id: question, text });
}

function answerQuestion(
  deps: DecideDeps,
  by: PersonId,
  handling: Handling,
  { id, text, message }: GivenAnswer,
): Promise<Handled> {
  const isRepeated = (approval: Approval): boolean => isAnsweredSo(approval, id, by.user, text);
  const mayAct: MayAct = (approval, context) =>
    isRepeated(approval) ? null : mayAnswer(id, approval, context);
  return handleRequest(deps, by, handling, {
    act: (approval, context) =>
      answerIt({ approval, id, text, message, isRepeated: isRepeated(approval) }, context),
    mayAct,
  });
}

/** `message`: the message in the thread with the answer. Undefined if the answer came from a form. */
type GivenAnswer = { readonly id: Nonce; readonly text: string; readonly message?: MessageTs | undefined };

type Answering = GivenAnswer & { readonly approval: Approval; readonly isRepeated: boolean };

function answerIt(
  { approval, id, text, message, isRepeated }: Answering,
  { by: { user }, ctx }: ActContext,
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
    (question) => question.id === id && question.answer?.by === user && question.answer.text === text,
  );

/** How many runs are read for one message. Apart from the thread's own run, only runs whose texts contain its `ts` match. */
const MAX_RUNS = 100;

/**
 * Slack delivers some messages twice, and people send some messages twice. A message that was already taken as an answer is that answer
 * again. A different message in the same words is a repetition only if no question is open, because "yes" may also answer the next
 * question.
 */
async function answerInThread(
  deps: DecideDeps,
  { team, user, channel, thread, ts, text }: ThreadMessage,
): Promise<ThreadAnswer | null> {
  const filter = {
    channels: [channel],
    only: "all",
    asked: { by: user },
    names: thread,
    limit: MAX_RUNS,
  } as const;
  const run = (await deps.store.list(filter)).find((candidate) => isThread(candidate, team, thread));
  if (run === undefined) return null;
  if (isAnswerToChangedRequest(run, ts)) return "answered-before-change";
  const questionsWhere = (matches: (approval: Approval, question: Question) => boolean) =>
    run.approvals.flatMap((approval) =>
      questionsOf(approval).flatMap((question) =>
        matches(approval, question) ? [{ approval, id: question.id }] : [],
      ),
    );
  const open = questionsWhere((approval, question) => openQuestions(approval).includes(question));
  const sameWords = questionsWhere((approval, { id }) => isAnsweredSo(approval, id, user, text));
  const sameMessage = sameWords.filter(({ approval, id }) =>
    questionsOf(approval).some((question) => question.id === id && question.answer?.message === ts),
  );
  // The request is decided or closed. A late answer must not become the task of a new run.
  const tooLate = questionsWhere(
    (approval, { answer }) => approval.state.type !== "pending" && answer === undefined,
  );
  const notOpen = sameWords.length > 0 ? sameWords.slice(0, 1) : tooLate.slice(-1);
  const candidates = [sameMessage, open, notOpen].find(({ length }) => length > 0) ?? [];
  const [found] = candidates;
  if (found === undefined) return withoutQuestion(deps, run, { team, user }, text);
  if (candidates.length > 1) return "several";
  const { request, id, version } = found.approval;
  const handling = { run, approval: id, version, saw: request, was: null, step: "answer" } as const;
  return answerQuestion(deps, { team, user }, handling, { id: found.id, text, message: ts });
}

/** A request that changed has lost its questions. An answer to one of them must not become a task either. */
async function withoutQuestion(
  deps: DecideDeps,
  run: Run,
  by: PersonId,
  text: string,
): Promise<ThreadAnswer | null> {
  if (hasQuestionOfChangedRequest(run))
    return refused(deps, { refusal: { type: "unknown" }, run }, by, { step: "answer" });
  return (await wasRecorded(deps, run, by.user, text)) ? "answered-before-change" : null;
}

/** A changed request no longer has the words of its answers. The audit has their digests. */
async function wasRecorded(
  { store, context }: DecideDeps,
  { key }: Run,
  user: UserId,
  text: string,
): Promise<boolean> {
  const digest = context().digest(text);
  const entries = await store.auditOfRun(key);
  return entries.some(
    ({ entry: { what, by, digest: of } }) => what === "answered" && by?.user === user && of === digest,
  );
}

function isThread(run: Run, team: TeamId, thread: MessageTs): boolean {
  const opening = run.posts[OPENING];
  return run.team === team && opening?.type === "up" && opening.ts === thread;
}
