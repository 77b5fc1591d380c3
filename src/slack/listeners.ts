// Which payload goes to which function. Each listener reads the payload, acknowledges, and calls one function.

import type { App } from "@slack/bolt";
import type { z } from "zod";
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
    const payload = read(commandPayload, body, deps);
    if (payload === null) return ack();
    return onCommand(deps, payload, async (text) => {
      await (text === undefined ? ack() : ack({ response_type: "ephemeral", text }));
    });
  });
  for (const [name, onClick] of CLICKS) {
    app.action(name, async ({ body, ack }) => {
      await ack();
      const payload = read(clickPayload, body, deps);
      if (payload !== null) await onClick(deps, payload);
    });
  }
  for (const [name, onSubmit] of SUBMITS) {
    app.view(name, async ({ body, ack }) => {
      const payload = read(submitPayload, body, deps);
      const answer = payload === null ? undefined : await onSubmit(deps, payload);
      await (answer === undefined ? ack() : ack({ ...answer }));
    });
  }
}

/** A payload of another shape than Slack documents is logged by where it is wrong, never by what it says. */
function read<Shape extends z.ZodType>(
  shape: Shape,
  body: unknown,
  { log }: ListenerDeps,
): z.infer<Shape> | null {
  const result = shape.safeParse(body);
  if (result.success) return result.data;
  log.warn(
    { wrong: result.error.issues.map(({ path }) => path.join(".")) },
    "a payload was not of the expected shape",
  );
  return null;
}
