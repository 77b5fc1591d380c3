// The steps that scripts of tasks are made of.

import type { Ask } from "./service-run.ts";
import type { Step } from "./script.ts";
import { succeeded, wasDenied } from "./task-words.ts";

export const littleWork: Step = { do: "work", ms: 1_500 };
export const tell: Step = { do: "end", what: "succeeds, and says what was decided and why", how: succeeded };

export const asking = (...asks: Ask[]): Step => ({ do: "ask", asks });
export const say = (output: string, what: string): Step => ({
  do: "end",
  what,
  how: () => ({ type: "succeeded", output }),
});
export const endIfDenied: Step = {
  do: "end",
  what: "succeeds here if something was denied, else goes on",
  how: (run) => (wasDenied(run) ? succeeded(run) : null),
};
export const failure = (code: string, message: string): Step => ({
  do: "end",
  what: `fails: ${message}`,
  how: () => ({ type: "failed", code, message }),
});
export const failIfDenied: Step = {
  do: "end",
  what: "fails here if something was denied, else goes on",
  how: (run) =>
    wasDenied(run)
      ? { type: "failed", code: "denied", message: "The run cannot go on without the denied action." }
      : null,
};
