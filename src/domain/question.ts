// Questions of people who may decide a request to its requester. The clock of the request stands still until the answer, for a limited
// time. Neither text is part of the request or of a decision, and the service receives neither. authorization.ts says who may ask.

import type { Times } from "./context.ts";
import type { Approval } from "./approval.ts";
import { type Person, type Refusal, refusalIfNotOpen } from "./authorization.ts";
import { type Answer, type AnsweredQuestion, type Question, withFollowUp } from "./follow-up.ts";
import type { MessageTs, Nonce, UserId } from "./ids.ts";
import type { Rule } from "./policy/policy.ts";
import { mayBePosted } from "./posted-message.ts";
import { err, ok, type Result } from "./result.ts";
import type { Run } from "./run.ts";
import type { Slot } from "./slot.ts";
import { isBlank } from "./text/text.ts";

/** Slack's limit for one text input (characters). */
export const MAX_QUESTION_CHARS = 3_000;
export const MAX_QUESTIONS = 10;

/** Names the thread's message with this question. */
export const questionSlot = (id: Nonce): Slot => `${QUESTION}${id}`;
const QUESTION = "question ";
export const isQuestionSlot = (slot: Slot): boolean => slot.startsWith(QUESTION);

/** Names the thread's message about a hand-over. */
export const handoverSlot = (id: Nonce): Slot => `${HANDOVER}${id}`;
const HANDOVER = "handover ";
export const isHandoverSlot = (slot: Slot): boolean => slot.startsWith(HANDOVER);

export const questionsOf = ({ followUp }: Pick<Approval, "followUp">): readonly Question[] =>
  followUp?.questions ?? [];

/** Returns the questions that the requester can still answer, oldest first. */
export function openQuestions(approval: Approval): readonly Question[] {
  if (approval.state.type !== "pending") return [];
  return questionsOf(approval).filter(({ answer }) => answer === undefined);
}

/** Returns the question that the card shows: the newest open one, or else the newest. */
export const shownQuestion = (approval: Approval): Question | null =>
  openQuestions(approval).at(-1) ?? questionsOf(approval).at(-1) ?? null;

const answeredBeforeChange = ({ approvals }: Pick<Run, "approvals">): readonly AnsweredQuestion[] =>
  approvals.flatMap(({ followUp }) => followUp?.answered ?? []);

/** Returns whether this message answered a question about a request that has changed since. */
export const isAnswerToChangedRequest = (run: Pick<Run, "approvals">, message: MessageTs): boolean =>
  answeredBeforeChange(run).some((answered) => answered.message === message);

/** Returns whether the thread shows a question that had no answer when its request changed. */
export function hasQuestionOfChangedRequest(run: Pick<Run, "approvals" | "posts">): boolean {
  const answered = new Set(answeredBeforeChange(run).map(({ id }) => questionSlot(id)));
  return Object.entries(run.posts).some(
    ([slot, post]) =>
      isQuestionSlot(slot) && mayBePosted(post) && findQuestion(run, slot) === null && !answered.has(slot),
  );
}

export type FoundQuestion = { readonly approval: Approval; readonly question: Question };

export function findQuestion({ approvals }: Pick<Run, "approvals">, slot: Slot): FoundQuestion | null {
  for (const approval of approvals) {
    const question = questionsOf(approval).find(({ id }) => questionSlot(id) === slot);
    if (question !== undefined) return { approval, question };
  }
  return null;
}

/** Returns null if one more question can be asked. */
export const refusalToAsk = (approval: Approval): Refusal | null =>
  questionsOf(approval).length < MAX_QUESTIONS ? null : { type: "too-many-questions" };

/** Returns null if the text is neither blank nor too long. */
function refusalOfText(text: string): Refusal | null {
  if (isBlank(text)) return { type: "text-needed" };
  return text.length > MAX_QUESTION_CHARS ? { type: "text-too-long", chars: text.length } : null;
}

/** Asks a question. `id` is the form's, so one form asks only once. Returns the same approval for a form that was submitted twice. */
export function ask(
  approval: Approval,
  { id, by, text, rule }: { id: Nonce; by: UserId; text: string; rule: Rule },
  { now, monotonic }: Times,
): Result<Approval, Refusal> {
  const questions = questionsOf(approval);
  const before = questions.find((question) => question.id === id);
  if (before !== undefined)
    return before.text === text ? ok(approval) : err({ type: "form-used", did: "asked" });
  const refusal = refusalOfText(text) ?? refusalToAsk(approval);
  if (refusal !== null) return err(refusal);
  const { pauses = [] } = approval.followUp ?? {};
  const until = monotonic + rule.followUp.questionMs;
  return ok(
    withFollowUp(approval, {
      questions: [...questions, { id, by, at: now, text }],
      pauses: [...pauses, { why: "question", from: monotonic, until, of: id }],
    }),
  );
}

/** Returns null if the person may answer the question now. Only the requester may, no matter who may decide. */
export function refusalToAnswer({ approval, question }: FoundQuestion, run: Run, by: Person): Refusal | null {
  if (by.kind !== "member") return { type: by.kind };
  if (by.team !== run.team) return { type: "outsider" };
  if (by.user !== run.requester) return { type: "not-asked", requester: run.requester };
  if (!by.seesChannel) return { type: "not-in-channel" };
  const refusal = refusalIfNotOpen(approval, approval.version, null);
  if (refusal !== null) return refusal;
  return question.answer === undefined ? null : { type: "answered-before" };
}

/** Records the answer and ends the pause, so the clock of the request runs again. */
export function answer(
  { approval, question: answered }: FoundQuestion,
  input: Omit<Answer, "at">,
  { now, monotonic }: Times,
): Result<Approval, Refusal> {
  const refusal = refusalOfText(input.text);
  if (refusal !== null) return err(refusal);
  const { pauses = [] } = approval.followUp ?? {};
  const questions = questionsOf(approval).map((question) =>
    question.id === answered.id ? { ...question, answer: { ...input, at: now } } : question,
  );
  const shortened = pauses.map((pause) =>
    pause.of === answered.id && (pause.until === null || pause.until > monotonic)
      ? { ...pause, until: monotonic }
      : pause,
  );
  return ok(withFollowUp(approval, { questions, pauses: shortened }));
}

/** Returns until when the clock waits for answers (wall time). Returns null if it does not wait for any. */
export function awaitsAnswerUntil(approval: Approval): number | null {
  const open = new Set(openQuestions(approval).map(({ id }) => id));
  const ends = (approval.followUp?.pauses ?? []).flatMap(({ of, until }) =>
    of !== undefined && open.has(of) && until !== null ? [until] : [],
  );
  return ends.length === 0 ? null : approval.since + Math.max(...ends) - approval.waitsSince;
}
