// A person submits a form, and the app answers.

import { isJson, type Json } from "#sandbox/slack/json-object.ts";
import type { OpenView } from "#sandbox/slack/model.ts";
import type { Slack } from "#sandbox/slack/start-slack.ts";
import { says } from "../make/message-id.ts";

type Submitting = { readonly acts: Pick<Slack["acts"], "submit"> } & Pick<Slack, "traffic">;

/**
 * Resolves to whether the app's answer, as Slack received it, says that the decision is recorded: it closes the form, or shows that the
 * approval is held. The screen does not show that, because a form also disappears when another one opens, for example after two presses.
 */
export async function submitForm(
  { acts, traffic }: Submitting,
  { id, person }: Pick<OpenView, "id" | "person">,
  values: OpenView["values"],
): Promise<boolean> {
  let sent: number | null = null;
  let answer: Json | null = null;
  const stop = traffic.onLine(({ number, what, answers, from, detail }) => {
    if (what === "view_submission" && viewIn(detail) === id) sent = number;
    else if (from === "app" && sent !== null && answers === sent) answer = fieldOf(detail, "answered");
  });
  await acts.submit(person, id, values).finally(stop);
  return answer !== null && isRecorded(answer);
}

function isRecorded({ response_action: action, view }: Json): boolean {
  if (action === undefined) return true;
  const blocks = isJson(view) && Array.isArray(view["blocks"]) ? (view["blocks"] as Json[]) : [];
  return action === "update" && says("form:held", { blocks });
}

const viewIn = (detail: unknown): unknown =>
  fieldOf(fieldOf(fieldOf(detail, "payload"), "body"), "view")?.["id"];

function fieldOf(value: unknown, name: string): Json | null {
  const field = isJson(value) ? value[name] : null;
  return isJson(field) ? field : null;
}
