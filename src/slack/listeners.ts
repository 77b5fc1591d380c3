// Which payload goes to which function. Each listener reads the payload, acknowledges, and calls one function.

import type { App } from "@slack/bolt";
import { onCardClick, onUnknownClick } from "./clicks.ts";
import { onCommand } from "./commands.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import {
  CARD_APPROVE,
  CARD_DENY,
  CARD_READ,
  DECISION_MODAL,
  RUN_FORM,
  UNKNOWN_LEAVE,
  UNKNOWN_START_AGAIN,
} from "./names.ts";
import {
  type ClickPayload,
  clickPayload,
  commandPayload,
  readPayload,
  type SubmitPayload,
  submitPayload,
} from "./payloads.ts";
import { decisionAnswer, formAnswer, type SubmitAnswer } from "./submits.ts";

type OnClick = (deps: ListenerDeps, payload: ClickPayload) => Promise<void>;
type OnSubmit = (deps: ListenerDeps, payload: SubmitPayload) => Promise<SubmitAnswer>;

const CLICKS: readonly (readonly [string, OnClick])[] = [
  [CARD_APPROVE, onCardClick],
  [CARD_DENY, onCardClick],
  [CARD_READ, onCardClick],
  [UNKNOWN_START_AGAIN, onUnknownClick],
  [UNKNOWN_LEAVE, onUnknownClick],
];

const SUBMITS: readonly (readonly [string, OnSubmit])[] = [
  [DECISION_MODAL, decisionAnswer],
  [RUN_FORM, formAnswer],
];

export function listen(app: App, deps: ListenerDeps): void {
  app.command(deps.command, async ({ body, ack }) => {
    const payload = readPayload(commandPayload, body, deps.log);
    if (payload === null) return ack();
    return onCommand(deps, payload, async (text) => {
      await (text === undefined ? ack() : ack({ response_type: "ephemeral", text }));
    });
  });
  for (const [name, onClick] of CLICKS) {
    app.action(name, async ({ body, ack }) => {
      await ack();
      const payload = readPayload(clickPayload, body, deps.log);
      if (payload !== null) await onClick(deps, payload);
    });
  }
  for (const [name, onSubmit] of SUBMITS) {
    app.view(name, async ({ body, ack }) => {
      const payload = readPayload(submitPayload, body, deps.log);
      const answer = payload === null ? undefined : await onSubmit(deps, payload);
      await (answer === undefined ? ack() : ack({ ...answer }));
    });
  }
}
