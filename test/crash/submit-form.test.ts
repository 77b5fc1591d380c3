// The judge of the crash tests counts a decision as acknowledged only if the app said so. A form may be gone for another reason: people who
// press twice get a second form, which replaces the first one while its submit is under way.

import type { App, ViewSubmitAction } from "@slack/bolt";
import { expect, onTestFinished, test } from "vitest";
import { startJudged } from "../sandbox/slack/judge.ts";
import { submitForm } from "./submit-form.ts";

type Answer = (app: { close(): Promise<void>; update(id: string): Promise<void> }) => Promise<void>;

const [ana, ops] = ["U0ANA", "C0OPSAGENTS"];
const plain = (text: string) => ({ type: "plain_text" as const, text });
const field = {
  type: "input" as const,
  block_id: "reason",
  label: plain("Reason"),
  element: { type: "plain_text_input" as const, action_id: "reason_text" },
};
const form = {
  type: "modal" as const,
  callback_id: "form",
  title: plain("Form"),
  submit: plain("Send"),
  blocks: [field],
};
const told = (id: string) => ({
  type: "modal" as const,
  title: plain("Answer"),
  blocks: [{ type: "section" as const, block_id: id, text: plain("Answer") }],
});

/** `second`: a second form replaces the submitted one while its submit is under way. */
function app(answer: Answer, second: boolean) {
  return (bolt: App): void => {
    bolt.command("/agent", async ({ ack, body, client }) => {
      await ack();
      await client.views.open({ trigger_id: body.trigger_id, view: form });
    });
    bolt.view<ViewSubmitAction>("form", async ({ ack, body, client }) => {
      if (second) await client.views.open({ trigger_id: body.trigger_id, view: form });
      await answer({
        close: () => ack(),
        update: (id) => ack({ response_action: "update", view: told(id) }),
      });
    });
  };
}

/** The app's answers, and whether each says that the decision is recorded. */
const ANSWERS: readonly (readonly [string, Answer, boolean])[] = [
  ["closes the form", (app) => app.close(), true],
  ["says that the approval is held", (app) => app.update("form:held"), true],
  ["refuses", (app) => app.update("refusal:already-decided"), false],
  ["says nothing", () => Promise.resolve(), false],
];
/** How long Slack waits for an app that does not answer (ms). */
const SHORT = { timing: { ackMs: 300 } };

for (const second of [false, true])
  test.for(ANSWERS)(
    `an app that %s${second ? ", when a second form has replaced the submitted one" : ""}`,
    async ([name, answer, recorded]) => {
      const options = name === "says nothing" ? SHORT : {};
      const { slack, stop } = await startJudged("socket", app(answer, second), options);
      onTestFinished(stop);
      await slack.acts.command(ana, ops, "/agent", "go");
      const form = await slack.workspace.until(() => slack.workspace.viewsOf(ana).at(0));
      expect(await submitForm(slack, form, { reason: { reason_text: "checked" } })).toBe(recorded);
    },
  );
