import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { Gathered } from "#src/domain/follow-up.ts";
import { ApprovalId, ChannelId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { renderKey } from "#src/domain/render-key.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, OPENING, OUTCOME } from "#src/domain/slot.ts";
import { NOON } from "../../../make/run.ts";
import { always } from "./hostile.ts";
import { expectMessage } from "./oracle.ts";
import { CREATED, LINK } from "./page/example.ts";
import { ended, forgotten, HALF_DONE, NOTICES_IN_THREAD, OPENINGS, OUTCOMES } from "./page/thread.ts";
import { printedMessage } from "./printed.ts";

const threads = Object.entries({ ...OPENINGS, ...OUTCOMES, ...NOTICES_IN_THREAD }).flatMap(([id, examples]) =>
  examples.map(({ when, drawn }) => ({ name: `${id} ${when}`, drawn })),
);

test.each(threads)("Slack accepts the message: $name", ({ drawn }) => {
  expectMessage(drawn as Parameters<typeof expectMessage>[0], [LINK]);
});

const source = (ref: number): string => `[s${ref}]: https://docs.example/${"x".repeat(130)}${ref}`;
const SOURCES = Array.from({ length: 6 }, (_, ref) => source(ref)).join("\n");
const finding = (at: number): string => `- Finding ${at}: ${"y".repeat(50)} [see the source][s${at % 6}]`;

test.each([
  [
    "60 findings that cite 6 sources",
    `${Array.from({ length: 60 }, (_, at) => finding(at)).join("\n")}\n\n${SOURCES}`,
  ],
  [
    "a long address cited 1,500 times",
    `${"[a] ".repeat(1_500)}\n\n[a]: https://x.example/${"y".repeat(900)}`,
  ],
  ["2,000 short secrets", "token=abcdefg ".repeat(2_000)],
  ["500 short secrets", "token=abcdefg ".repeat(500)],
  [
    "addresses whose marks count as entities",
    `[a][a] ${"[a] ".repeat(300)}\n\n[a]: <https://x.example/?${"&".repeat(900)}>`,
  ],
])("the end of a run is shown, whatever its output repeats: %s", (_what, output) => {
  const extra = { message: "m".repeat(5_000), more: "n".repeat(5_000) };
  expectMessage(messageIn(ended("failed", output, extra), OUTCOME));
});

test("a confirmed denial gives the opening and the outcome another key, so that both are redrawn", () => {
  for (const slot of [OPENING, OUTCOME])
    expect(renderKey(HALF_DONE, slot)).not.toBe(renderKey(ended("succeeded", null), slot));
});

test.each<[string, Run["creation"]]>([
  ["waits", { type: "planned", notBefore: 0, tries: 2, why: "HTTP 503." }],
  ["is under way", { type: "sending", at: NOON, tries: 1 }],
])("Stop asks with words for a run that may never start while its start %s", (_start, creation) => {
  const asked = (run: Run) => JSON.stringify(messageIn(run, OPENING).blocks);
  expect(asked({ ...CREATED, creation })).toContain("If its task is not sent yet, the run never starts.");
  expect(asked({ ...CREATED, creation })).not.toContain("keeps going");
  expect(asked(CREATED)).toContain("The run itself keeps going");
});

test("a new reason why a run has not started, and the task of a watched run, give the opening another key", () => {
  const keyOf = (run: Run) => renderKey(run, OPENING);
  const delayed = (why: string): Run => ({
    ...CREATED,
    creation: { type: "planned", notBefore: 0, tries: 2, why },
  });
  expect(keyOf(delayed("HTTP 429."))).not.toBe(keyOf(delayed("HTTP 401.")));
  const watched: Run = { ...CREATED, origin: "adopted", input: "" };
  const reported: Run = { ...watched, input: "Delete everything" };
  expect(printedMessage(messageIn(reported, OPENING))).toContain("Delete everything");
  expect(keyOf(reported)).not.toBe(keyOf(watched));
});

describe("a run that failed says", () => {
  const shown = (extra: { [field: string]: Json }): string =>
    printedMessage(messageIn({ ...ended("failed", null, extra), input: "" }, OUTCOME)).split(
      "The service says:\n",
    )[1] ?? "";

  test.each<[string, { [field: string]: Json }, string]>([
    [
      "the message of its error record, its code small",
      { error: { code: "tool_error", message: "The deploy timed out." } },
      "| The deploy timed out.\n(Error code: tool_error)",
    ],
    ["a message alone", { message: "The deploy\ntimed out." }, "| The deploy\n| timed out."],
    [
      "every other field below it, those of the record too",
      { error: { code: 7, message: "No.", at: "step 2" }, attempts: 3 },
      '| No.\n| attempts: 3\n| error: {\n|   "code": 7,\n|   "at": "step 2"\n| }',
    ],
    ["a message beside an error in words", { error: "exit 1", message: "No." }, "| No.\n| error: exit 1"],
    [
      "all fields where there is no message",
      { error: { code: "x", message: "" } },
      '| error: {\n|   "code": "x",\n|   "message": ""\n| }',
    ],
  ])("%s", (_what, extra, words) => expect(shown(extra)).toBe(words));

  test("no secret from a message or code, and how much of a long message is missing", () => {
    const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    const long = shown({ error: { code: secret, message: `${secret} ${"x".repeat(5_000)}` }, attempts: 3 });
    expect(long).not.toContain(secret);
    expect(long).toMatch(/\d more/);
    expect(long).toContain("attempts: 3");
  });
});

test("an output is said to be the agent's, however long it is", () => {
  for (const output of ["✅ Approved", `✅ Approved\n${"x ".repeat(6_000)}`])
    expect(printedMessage(messageIn(ended("succeeded", output), OUTCOME))).toContain(
      "\n**The agent's output:**\n✅ Approved",
    );
});

test("a run whose output was posted and forgotten never says that it has no output", () => {
  always(fc.string({ minLength: 1 }), (output) => {
    const run = forgotten(ended("succeeded", output));
    expect(printedMessage(messageIn(run, OUTCOME))).toContain("The service still has it.");
    expect(printedMessage(messageIn(run, OUTCOME))).not.toContain("No output");
  });
});

test("a start that was not confirmed names the command of this workspace", () => {
  const creation = { type: "unknown", why: "", again: "asked" } as unknown as Run["creation"];
  const deployment = { name: "", runUrl: null, command: "/countersign" };
  expect(printedMessage(messageIn({ ...CREATED, creation }, OUTCOME, deployment))).toContain(
    "`/countersign watch <run id>`",
  );
});

test("a message about several requests in another channel says where they wait, also once none of them does", () => {
  const who = { users: [], groups: [], more: 0 };
  const shown = (facts: Partial<Gathered>): string => {
    const one: Gathered = { since: NOON, says: "stage", of: [], oldest: NOON, who, ...facts };
    return printedMessage(messageIn({ ...CREATED, gathered: [one] }, `several ${NOON}`));
  };
  const channel = ChannelId("C0LEADS");
  for (const over of [{}, { over: true }] as const) {
    expect(shown({ channel, ...over })).toContain(` in #${CREATED.channel}`);
    expect(shown(over)).not.toContain("#");
  }
});

test("nothing is drawn for a slot that is not ours", () => {
  for (const slot of ["", "opening ", "card", cardSlot(ApprovalId("gone"))])
    expect(() => messageIn(CREATED, slot)).toThrow(TypeError);
});
