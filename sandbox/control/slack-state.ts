// What acts have changed about the emulated Slack, apart from people, channels and messages.

import type { Fault } from "../slack/injected-faults.ts";
import type { Slack } from "../slack/start-slack.ts";

/** The state of Slack, as the page shows it. */
export function slackState({ faults, rateLimits }: Pick<Slack, "faults" | "rateLimits">) {
  const waiting = faults.list().map(({ method, fault }) => ({ method, words: describeFault(fault) }));
  const alike = Map.groupBy(waiting, ({ method, words }) => `${method} ${words}`);
  return {
    faults: [...alike.values()].flatMap(([first, ...others]) =>
      first === undefined ? [] : [`${first.method}, ${countOf(others.length + 1)}: ${first.words}`],
    ),
    rateLimits: rateLimits.areOn(),
    missingScopes: faults.missingScopes(),
  };
}

const countOf = (calls: number): string => (calls === 1 ? "1 call" : `${calls} calls`);

function describeFault(fault: Fault): string {
  if ("error" in fault) return `the error ${fault.error}`;
  if ("retryAfter" in fault) return `HTTP 429, retry after ${fault.retryAfter} s`;
  if ("cut" in fault) return `half an answer${AFTER}`;
  if ("drip" in fault) return `an answer that arrives character by character${AFTER}`;
  if ("drop" in fault) return `the connection is cut${fault.drop === "after" ? AFTER : ""}`;
  if ("hang" in fault) return `never answered${fault.hang === "after" ? AFTER : ""}`;
  const effect = fault.when === "after" ? AFTER : "";
  if ("until" in fault) return `held until it is released${effect}`;
  return `HTTP ${"http" in fault ? fault.http : fault.answer.status}${effect}`;
}

const AFTER = ", after it took effect";
