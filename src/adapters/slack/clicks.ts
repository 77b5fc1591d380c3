// Clicks on cards and on the question after a lost start. Acknowledged at once; then a modal opens, or a private answer says why not.

import type { Verdict } from "../../domain/approval.ts";
import type { Refusal } from "../../domain/authorization.ts";
import { Nonce, Nonce as toNonce, parsed, RunKey } from "../../domain/ids.ts";
import type { Disputed } from "../../usecases/dispute.ts";
import type { Click } from "../../usecases/open-form.ts";
import { PortError } from "../../ports.ts";
import { decisionModal, readModal, refusedModal } from "./blocks/decision-modal.ts";
import { commandRefusalWords, refusalTitle, refusalWords } from "./blocks/refusal-words.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { CARD_APPROVE, CARD_READ, UNKNOWN_START_AGAIN } from "./names.ts";
import type { ClickPayload } from "./payloads.ts";

export async function onCardClick(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const [{ action_id }] = payload.actions;
  const click = clickOf(deps, payload);
  if (action_id === CARD_READ) return read(deps, payload, click);
  const verdict: Verdict = action_id === CARD_APPROVE ? "approve" : "deny";
  const opened = await deps.openForm.decide(click, verdict);
  if (!opened.ok) return refuse(deps, payload, opened.error.refusal);
  const { run, ticket } = opened.value;
  await open(deps, payload, decisionModal(run, ticket.saw, verdict, ticket.nonce));
}

function clickOf({ team }: ListenerDeps, { user, channel, message, actions }: ClickPayload): Click {
  const nonce = parsed<Nonce>(toNonce, actions[0].value);
  return { team, user: user.id, channel: channel.id, ts: message.ts, nonce };
}

/** The card says what became of it. */
export async function onUndoClick(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  try {
    const undone = await deps.undoDecision(clickOf(deps, payload));
    if (!undone.ok) await refuse(deps, payload, undone.error.refusal);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "an approval could not be taken back");
    await showAnswer(deps, payload, "Not taken back", NOT_UNDONE);
  }
}

const NOT_UNDONE =
  "Countersign could not write it down just now, so the approval is not taken back yet. Press Undo again while the card shows it.";

async function read(deps: ListenerDeps, payload: ClickPayload, click: Click): Promise<void> {
  let isOpen = false;
  try {
    const read = await deps.openForm.read(click, async (run, request) => {
      isOpen = await open(deps, payload, readModal(run, request));
      return isOpen;
    });
    if (!read.ok) await refuse(deps, payload, read.error.refusal);
  } catch (error) {
    if (!isOpen || !(error instanceof PortError)) throw error;
    deps.log.error(
      { error },
      "it could not be marked that a request was read; its reader is told so at Approve",
    );
  }
}

export async function onUnknownClick(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const [{ action_id, value }] = payload.actions;
  const key = parsed<RunKey>(RunKey, value);
  const by = { team: deps.team, user: payload.user.id, channel: payload.channel.id };
  const again = action_id === UNKNOWN_START_AGAIN ? "started" : "left";
  const done = key === null ? null : await deps.startRun.answerUnknown(by, key, again);
  if (done?.ok === true) return;
  if (done === null) {
    await deps.noteRefusal(by, "unknown", { step: "start" });
    return refuse(deps, payload, { type: "unknown" });
  }
  if (done.error.type === "unknown-run") {
    return showAnswer(
      deps,
      payload,
      "Not yours to answer",
      "Only the person who asked for this run can answer that.",
    );
  }
  const heading = done.error.type === "answered" ? "Already answered" : "Nothing was started";
  await showAnswer(deps, payload, heading, commandRefusalWords(done.error, deps.command));
}

async function refuse(deps: ListenerDeps, payload: ClickPayload, refusal: Refusal): Promise<void> {
  await showAnswer(deps, payload, refusalTitle(refusal), refusalWords(refusal, payload.user.id));
}

/** In a modal, because a person may have clicked in the channel, in the thread or on a phone: it is seen in all of them. */
export async function showAnswer(
  deps: ListenerDeps,
  payload: ClickPayload,
  heading: string,
  says: string,
): Promise<void> {
  try {
    await deps.quick("views.open", { trigger_id: payload.trigger_id, view: refusedModal(heading, says) });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    await deps.answerAt(payload.response_url, { text: says });
  }
}

const AGAIN = "Slack delivered this click twice. The form that it opened is the one to use.";
/** It may be open: the answer to `views.open` can be lost, and an earlier process may have opened it for the same click. */
const NO_FORM =
  "Slack did not say that it opened a form for this click. If you see none, click again. The click alone has sent nothing.";

/** Slack lets a modal open within 3 s of the click; after that the person must click again. False: this
 * delivery opened none, and they were told. */
async function open(deps: ListenerDeps, payload: ClickPayload, view: object): Promise<boolean> {
  try {
    const { trigger_id } = payload;
    const opened = await deps.forms.open(trigger_id, () => deps.quick("views.open", { trigger_id, view }));
    if (opened === "again") await deps.answerAt(payload.response_url, { text: AGAIN });
    return opened === "opened";
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "a modal could not be opened");
    await deps.answerAt(payload.response_url, { text: NO_FORM });
    return false;
  }
}

// «This was not me», pressed on a receipt.

export async function onNotMe(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const [{ value }] = payload.actions;
  try {
    const by = { team: deps.team, user: payload.user.id };
    const done = await deps.dispute(by, parsed<Nonce>(Nonce, value));
    if (!done.ok)
      return await showAnswer(
        deps,
        payload,
        "Nothing was reported",
        "This button belongs to somebody else's receipt, or to none.",
      );
    await showAnswer(deps, payload, done.value.again ? "Reported already" : "Reported", words(done.value));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "«This was not me» could not be recorded");
    const says =
      "Countersign could not write it down just now. Press the button again, and tell whoever runs Countersign.";
    await showAnswer(deps, payload, "Not reported yet", says);
  }
}

function words({ told }: Disputed): string {
  const who =
    told === 0
      ? "No admin is named in Countersign's configuration, so tell whoever runs it *now*."
      : "The admins have been told.";
  return `The audit marks this decision as not yours. ${who} The decision itself may be with the service already. Sign out of all your Slack sessions and change your password.`;
}
