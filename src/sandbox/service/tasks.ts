// The words of a task that choose what its run will do. The first line of the table that fits counts.

import type { Ask } from "./run.ts";
import type { Step } from "./script.ts";
import { deployment, migration, notice, spending, subjectOf } from "./task-asks.ts";
import { accountOf, hostileText, numberedLines, succeeded, wasDenied } from "./task-words.ts";

type Task = {
  /** Any of these words, whole, in upper or lower case. */
  readonly words: readonly string[];
  readonly what: string;
  readonly steps: (input: string) => readonly Step[];
};

const hugeLength = 200_000;
const littleWork: Step = { do: "work", ms: 1_500 };
const tell: Step = { do: "end", how: succeeded };

const asking = (...asks: Ask[]): Step => ({ do: "ask", asks });
const say = (output: string): Step => ({ do: "end", how: () => ({ is: "succeeded", output }) });
const endIfDenied: Step = { do: "end", how: (run) => (wasDenied(run) ? succeeded(run) : null) };
const failure = (code: string, message: string): Step => ({
  do: "end",
  how: () => ({ is: "failed", code, message }),
});
const failIfDenied: Step = {
  do: "end",
  how: (run) =>
    wasDenied(run)
      ? { is: "failed", code: "denied", message: "The run cannot go on without the denied action." }
      : null,
};

const table: readonly Task[] = [
  {
    words: ["immediately", "just say"],
    what: "succeeds at once, with no approval",
    steps: (input) => [say(/\bjust say\s+(.+)/is.exec(input)?.[1]?.trim() ?? `Done: ${subjectOf(input)}`)],
  },
  {
    words: ["fail if denied"],
    what: "asks for one approval; fails when it is denied",
    steps: (input) => [littleWork, asking(deployment(input)), failIfDenied, littleWork, tell],
  },
  {
    words: ["fail"],
    what: "works a little, then fails",
    steps: () => [littleWork, failure("tool_error", "The build broke: 3 of 214 checks failed.")],
  },
  {
    words: ["cancel"],
    what: "works a little, then is canceled",
    steps: () => [
      littleWork,
      { do: "end", how: () => ({ is: "canceled", reason: "An operator canceled the run." }) },
    ],
  },
  {
    words: ["forever"],
    what: "works and never ends by itself",
    steps: () => [{ do: "work forever" }],
  },
  {
    words: ["two approvals"],
    what: "asks for two approvals at once",
    steps: (input) => [littleWork, asking(deployment(input), migration(input)), littleWork, tell],
  },
  {
    words: ["several"],
    what: "asks for four approvals at once",
    steps: (input) => [
      littleWork,
      asking(deployment(input), migration(input), notice(12_400), spending(900)),
      littleWork,
      tell,
    ],
  },
  {
    words: ["staged", "in stages"],
    what: "asks for three approvals one after another; a denied stage is the last",
    steps: (input) =>
      ["staging", "canary", "production"]
        .flatMap((stage): Step[] => [littleWork, asking(deployment(input, stage)), endIfDenied])
        .concat(tell),
  },
  {
    words: ["withdraw"],
    what: "asks for one approval and withdraws it after 20 s; goes on without",
    steps: (input) => [
      littleWork,
      { do: "ask", asks: [deployment(input)], later: { ms: 20_000, what: "withdraw" } },
      littleWork,
      tell,
    ],
  },
  {
    words: ["change"],
    what: "asks for one approval whose content becomes another after 20 s",
    steps: (input) => [
      littleWork,
      {
        do: "ask",
        asks: [deployment(input, "staging")],
        later: { ms: 20_000, what: "change", to: deployment(input, "production") },
      },
      littleWork,
      tell,
    ],
  },
  {
    words: ["huge request"],
    what: `asks for one approval whose action has ${hugeLength / 1000},000 characters`,
    steps: (input) => {
      const { action, details } = deployment(input);
      const text = numberedLines(hugeLength - action.length - 1);
      return [littleWork, asking({ action: `${action}\n${text}`, details }), littleWork, tell];
    },
  },
  {
    words: ["huge"],
    what: `succeeds with an output of ${hugeLength / 1000},000 characters, with no approval`,
    steps: () => [littleWork, say(numberedLines(hugeLength))],
  },
  {
    words: ["hostile"],
    what: "asks and ends with text that tries to fool the reader",
    steps: () => [
      littleWork,
      asking({
        action: hostileText,
        details: { tool: "<!channel> *shell*", arguments: { command: hostileText } },
      }),
      littleWork,
      { do: "end", how: (run) => ({ is: "succeeded", output: `${accountOf(run)}\n\n${hostileText}` }) },
    ],
  },
  {
    words: ["slow"],
    what: "works for a minute before and after its approval",
    steps: (input) => [
      { do: "work", ms: 60_000 },
      asking(deployment(input)),
      { do: "work", ms: 60_000 },
      tell,
    ],
  },
];

const standard: Task = {
  words: [],
  what: "works a little, asks for one approval to deploy, then succeeds and says what was decided and why",
  steps: (input) => [littleWork, asking(deployment(input)), littleWork, tell],
};

/** For people to read: what to write into a task, and what its run does then. */
export const tasks: readonly { readonly words: string; readonly what: string }[] = [
  ...table.map(({ words, what }) => ({ words: words.join(", "), what })),
  { words: "(anything else)", what: standard.what },
];

export function stepsFor(input: string): readonly Step[] {
  const chosen = table.find(({ words }) =>
    words.some((word) => new RegExp(`\\b${word}\\b`, "i").test(input)),
  );
  return (chosen ?? standard).steps(input);
}
