// Describes a step of a script, for people who look at a run.

import type { Step } from "./script.ts";
import { subjectOf } from "./task-words.ts";

const seconds = (ms: number): string => `${ms / 1000} s`;

export function inWords(step: Step): string {
  switch (step.type) {
    case "work":
      return `works for ${seconds(step.ms)}`;
    case "work forever":
      return "works, and never ends by itself";
    case "ask":
      return `${askInWords(step)}${laterInWords(step)}`;
    case "end":
      return step.what;
  }
}

type AskStep = Extract<Step, { type: "ask" }>;

function askInWords({ asks }: AskStep): string {
  const actions = asks.map(({ action }) => `"${subjectOf(action)}"`).join(", ");
  return asks.length === 1
    ? `asks for approval: ${actions}`
    : `asks for ${asks.length} approvals: ${actions}`;
}

function laterInWords({ later }: AskStep): string {
  if (later === undefined) return "";
  const becomes = later.to?.action === undefined ? "something else" : `"${subjectOf(later.to.action)}"`;
  return later.what === "withdraw"
    ? `; withdraws it if no one decides within ${seconds(later.ms)}`
    : `; after ${seconds(later.ms)} without a decision the request becomes ${becomes}`;
}
