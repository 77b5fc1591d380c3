// The words of a task that select what its run does. The first matching row of the table counts.

import { inWords } from "./script-words.ts";
import type { Step } from "./script.ts";
import {
  accountOf,
  asking,
  deployment,
  endIfDenied,
  failIfDenied,
  failure,
  hostileText,
  littleWork,
  migration,
  notice,
  numberedLines,
  succeedWith,
  spending,
  subjectOf,
  succeedWithAccount,
} from "./task-words.ts";

type Task = {
  /** Any of these words selects the task. Case is ignored. */
  readonly words: readonly string[];
  readonly what: string;
  readonly steps: (input: string) => readonly Step[];
};

const hugeLength = 200_000;
const table: readonly Task[] = [
  {
    words: ["immediately", "just say"],
    what: "succeeds at once, with no approval",
    steps: (input) => [
      succeedWith(
        /\bjust say\s+(.+)/is.exec(input)?.[1]?.trim() ?? `Done: ${subjectOf(input)}`,
        "succeeds with what it was told to say",
      ),
    ],
  },
  {
    words: ["fail if denied"],
    what: "asks for one approval, and fails if it is denied",
    steps: (input) => [littleWork, asking(deployment(input)), failIfDenied, littleWork, succeedWithAccount],
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
      {
        type: "end",
        what: "is canceled by an operator",
        how: () => ({ type: "canceled", reason: "An operator canceled the run." }),
      },
    ],
  },
  {
    words: ["forever"],
    what: "works and never ends by itself",
    steps: () => [{ type: "work forever" }],
  },
  {
    words: ["two approvals"],
    what: "asks for two approvals at once",
    steps: (input) => [
      littleWork,
      asking(deployment(input), migration(input)),
      littleWork,
      succeedWithAccount,
    ],
  },
  {
    words: ["several"],
    what: "asks for four approvals at once",
    steps: (input) => [
      littleWork,
      asking(deployment(input), migration(input), notice(12_400), spending(900)),
      littleWork,
      succeedWithAccount,
    ],
  },
  {
    words: ["staged", "in stages"],
    what: "asks for three approvals one after another, and stops after a denied stage",
    steps: (input) =>
      ["staging", "canary", "production"]
        .flatMap((stage): Step[] => [littleWork, asking(deployment(input, stage)), endIfDenied])
        .concat(succeedWithAccount),
  },
  {
    words: ["withdraw"],
    what: "asks for one approval, withdraws it after 20 s, and continues without it",
    steps: (input) => [
      littleWork,
      { type: "ask", asks: [deployment(input)], later: { ms: 20_000, what: "withdraw" } },
      littleWork,
      succeedWithAccount,
    ],
  },
  {
    words: ["change"],
    what: "asks for one approval, whose content changes after 20 s",
    steps: (input) => [
      littleWork,
      {
        type: "ask",
        asks: [deployment(input, "staging")],
        later: { ms: 20_000, what: "change", to: deployment(input, "production") },
      },
      littleWork,
      succeedWithAccount,
    ],
  },
  {
    words: ["huge request"],
    what: `asks for one approval whose action has ${hugeLength / 1000},000 characters`,
    steps: (input) => {
      const { action, details } = deployment(input);
      const text = numberedLines(hugeLength - action.length - 1);
      return [littleWork, asking({ action: `${action}\n${text}`, details }), littleWork, succeedWithAccount];
    },
  },
  {
    words: ["huge"],
    what: `succeeds with an output of ${hugeLength / 1000},000 characters, with no approval`,
    steps: () => [littleWork, succeedWith(numberedLines(hugeLength), "succeeds with a very long output")],
  },
  {
    words: ["hostile"],
    what: "asks for an approval and ends, both with text that tries to fool the reader",
    steps: () => [
      littleWork,
      asking({
        action: hostileText,
        details: { tool: "<!channel> *shell*", arguments: { command: hostileText } },
      }),
      littleWork,
      {
        type: "end",
        what: "succeeds, with an output that tries to fool the reader",
        how: (run) => ({ type: "succeeded", output: `${accountOf(run)}\n\n${hostileText}` }),
      },
    ],
  },
  {
    words: ["unreadable"],
    what: "asks for two approvals, one of them with half a character, which programs read differently",
    steps: (input) => {
      const { action, details } = notice(12_400);
      return [
        littleWork,
        asking(deployment(input), { action: `${action} \ud83d`, details }),
        littleWork,
        succeedWithAccount,
      ];
    },
  },
  {
    words: ["slow"],
    what: "works for a minute before and after its approval",
    steps: (input) => [
      { type: "work", ms: 60_000 },
      asking(deployment(input)),
      { type: "work", ms: 60_000 },
      succeedWithAccount,
    ],
  },
];

const standard: Task = {
  words: [],
  what: "works a little, asks for one approval to deploy, then succeeds and says what was decided and why",
  steps: (input) => [littleWork, asking(deployment(input)), littleWork, succeedWithAccount],
};

const anythingElse = "(anything else)";

/** The help for people: what to write in a task, and what its run then does. */
export const tasks: readonly { readonly words: string; readonly what: string }[] = [
  ...table.map(({ words, what }) => ({ words: words.join(", "), what })),
  { words: anythingElse, what: standard.what },
];

/** All words that select what a run does. */
export const taskWords: readonly string[] = table.flatMap(({ words }) => words);

/** Returns the task whose words the text contains, and the word that was found. */
function chosenFor(input: string): { readonly task: Task; readonly word: string } {
  for (const task of table) {
    const word = task.words.find((word) => new RegExp(`\\b${word}\\b`, "i").test(input));
    if (word !== undefined) return { task, word };
  }
  return { task: standard, word: anythingElse };
}

export const stepsFor = (input: string): readonly Step[] => chosenFor(input).task.steps(input);

/** Returns the word that selected the script, what the script does, and a description of each step at tempo 1. */
export function scriptFor(input: string): {
  readonly words: string;
  readonly what: string;
  readonly steps: readonly string[];
} {
  const { task, word } = chosenFor(input);
  return { words: word, what: task.what, steps: task.steps(input).map(inWords) };
}
