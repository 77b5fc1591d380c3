// Slack: the faults of its Web API, its rate limits and the scopes of the app.
import { controlButton, html } from "../page/base/html.ts";
import type { Row, ServiceState } from "./shown-state.ts";

export function slackRow({ slack: { faults, rateLimits, missingScopes } }: ServiceState): Row {
  const wrong = [
    ...faults,
    ...(rateLimits ? [] : ["Rate limits are off: no call is refused for coming too soon."]),
    ...(missingScopes.length === 0
      ? []
      : [`The app lacks ${missingScopes.join(", ")}. To restore what is missing, start a new sandbox.`]),
  ];
  return {
    name: "Slack",
    good: wrong.length === 0,
    state: wrong.length === 0 ? "Works as usual" : wrong.map((one) => html`<span data-waiting>${one}</span>`),
    buttons: [
      ...(faults.length === 0
        ? []
        : [controlButton({ act: "slack.clearFaults", words: "Clear the faults" })]),
      ...(rateLimits
        ? []
        : [controlButton({ act: "slack.rateLimits", args: { on: true }, words: "Turn rate limits on" })]),
    ],
  };
}
