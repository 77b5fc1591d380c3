// Texts, requests and runs as the worst service and the worst person would write them.

import * as fc from "fast-check";
import type { Approval, ApprovalState, Decision, PastDecision, Request } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { newApproval } from "#src/domain/approval-transitions.ts";
import { ApprovalId, RunId } from "#src/domain/ids.ts";
import { isRecord, type Json } from "#src/domain/json.ts";
import type { Upload } from "#src/domain/posted-message.ts";
import type { Unreadable } from "#src/domain/snapshot.ts";
import { clip } from "#src/domain/text/text.ts";
import type { Creation, Ended, Run, Watch } from "#src/domain/run.ts";
import { OUTPUT, requestSlot } from "#src/domain/slot.ts";
import { aNonce, APPROVER, aRun, aWatchedRun, NOON, REQUESTER, TEAM } from "../../../make/run.ts";
import { endedRun, requestOf } from "../observed.ts";
import { anyCodePoint } from "../../../make/code-points.ts";

/** Random cases per property in the usual run. A campaign sets more. */
export const RUNS = Number(process.env["FUZZ_RUNS"] ?? 250);

/** Checks a property on many values. A counterexample is shown by its beginning, since some are 200 kB long. */
export function always<T>(any: fc.Arbitrary<T>, holds: (value: T) => void, runs = RUNS): void {
  const result = fc.check(
    fc.property(any, (value) => {
      holds(value);
    }),
    { numRuns: runs, interruptAfterTimeLimit: 60_000 },
  );
  if (!result.failed) return;
  const { seed, counterexamplePath, counterexample, errorInstance: cause } = result;
  const why = cause instanceof Error ? cause.message.slice(0, 400) : String(cause);
  const example = fc.stringify(counterexample).slice(0, 800);
  throw new Error(`${why}\n(seed ${seed}, path ${counterexamplePath}) with ${example}`, { cause });
}

/** Part of every hostile text, so that it can be found in a message. Our own texts never contain it. */
export const MARK = "ZQX";

export const ATOMS = [
  MARK,
  "<!channel>",
  "<!here|here>",
  "<!everyone>",
  "<@U0EVIL>",
  "<#C0EVIL|general>",
  "<!subteam^S0EVIL|@sre>",
  "<https://evil.example|Approve>",
  "<mailto:a@evil.example|x>",
  "<!date^1767225600^{date}^https://evil.example|x>",
  "https://evil.example/x?a=1&b=2",
  "@here",
  "#general",
  ":white_check_mark:",
  "&lt;!channel&gt;",
  "&",
  "<",
  ">",
  "*bold* _it_ ~s~ `code`",
  "```\nfence\n```",
  "\\",
  '"',
  "'",
  "\u202Egnp.exe",
  "\u2066\u2069",
  "\u200B",
  "\u200D",
  "\uFEFF",
  "\u00AD",
  "\u0000",
  "\u001B[31m",
  "\u0007",
  "\u2028",
  "\u3164",
  "\u2800",
  "\u{E0041}",
  "\uD800",
  "\uDC00",
  "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308",
  "👩‍💻",
  "❤️",
  "\r\n",
  "\n",
  "\n\n",
  "\t",
  " ",
  "漢字かな",
  "\n# heading\n",
  "\n- item\n  - nested\n",
  "\n3. item\n",
  "\n> quote\n",
  "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
  "[label](https://evil.example 'title')",
  "![image](https://evil.example/x.png)",
  "<script>alert(1)</script>",
  "✅ Approved\nThe service confirmed it.",
];

const atom = fc.constantFrom(...ATOMS);
const short = fc.array(atom, { maxLength: 12 }).map((parts) => parts.join(""));
const noise = fc.string({ unit: anyCodePoint, maxLength: 60 });
const long = fc
  .tuple(atom, fc.constantFrom(900, 2_400, 3_000, 8_000, 20_000, 50_000, 200_000))
  .map(([part, length]) => part.repeat(Math.ceil(length / Math.max(part.length, 1))).slice(0, length));
const deep = fc
  .tuple(
    fc.constantFrom("> ", "- ", "  - ", "[", "**", "`", "<b>", "1. "),
    fc.integer({ min: 1, max: 3_000 }),
  )
  .map(([part, times]) => part.repeat(times));

/** Any text: empty, malicious, deeply nested, or 200 kB long. */
export const anyText = fc
  .oneof(
    { weight: 8, arbitrary: short },
    { weight: 3, arbitrary: noise },
    { weight: 3, arbitrary: long },
    { weight: 1, arbitrary: deep },
    { weight: 1, arbitrary: fc.constant("") },
  )
  .chain((text) => fc.constantFrom(text, `${MARK}${text}`, `${MARK}\n${text}`));

/** Any text with a length that people type into Slack. */
export const anyTyped = anyText.map((text) => text.slice(0, 3_000));

const anyId = anyText.map((text) => clip(`${MARK}${text}`, 512).shown);

const anyFields: fc.Arbitrary<Json> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.dictionary(short, fc.oneof(anyText, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.integer({ min: 1, max: 6_000 }), atom)
      .map(([many, text]) => Object.fromEntries(Array.from({ length: many }, (_, at) => [`${at}`, text]))),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 5 }) as fc.Arbitrary<Json> },
);

export const anyRequest: fc.Arbitrary<Request> = fc.oneof(
  fc.tuple(anyText, anyFields).map(([action, fields]) => {
    const more = isRecord(fields) ? fields : {};
    return requestOf(action, { ...more, action });
  }),
  anyFields.map((content) => requestOf(null, content)),
);

const anyDecision: fc.Arbitrary<Decision> = fc
  .tuple(fc.constantFrom("approve" as const, "deny" as const), anyTyped)
  .map(([verdict, reason]) => ({
    verdict,
    reason,
    by: { team: TEAM, user: APPROVER },
    at: NOON,
    digest: "0".repeat(64),
  }));

const anyPast: fc.Arbitrary<PastDecision> = fc.record({
  decision: anyDecision,
  cause: fc.constantFrom("request-changed", "no-longer-listed", "refused", "run-over"),
  words: anyText,
});

const anyDelivery: fc.Arbitrary<Delivery> = anyText.chain((words) =>
  fc.constantFrom<Delivery>(
    { type: "recorded" },
    { type: "sending", at: NOON, tries: 1, lost: false },
    { type: "retry", notBefore: NOON, tries: 1, lost: false, why: words },
    { type: "retry", notBefore: NOON, tries: 1, lost: true, why: words },
    { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: words },
    { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: words, answered: words },
    { type: "unconfirmed", at: NOON, cause: "no-longer-listed", answered: words },
    { type: "confirmed", at: NOON, stillListed: null },
    { type: "confirmed", at: NOON, stillListed: true },
    { type: "refused", at: NOON, words, absent: false },
    { type: "refused", at: NOON, words, absent: true },
    { type: "elsewhere", at: NOON, words },
    { type: "elsewhere", at: NOON, words, stillListed: true },
    { type: "unconfirmed", at: NOON, cause: "no-longer-listed" },
    { type: "unconfirmed", at: NOON, cause: "no-longer-listed", stillListed: true },
    { type: "unconfirmed", at: NOON, cause: "request-changed" },
    { type: "unconfirmed", at: NOON, cause: "run-missing" },
    { type: "unconfirmed", at: NOON, cause: "refused-after-lost-answer" },
  ),
);

const anyState: fc.Arbitrary<ApprovalState> = fc.oneof(
  fc.constant<ApprovalState>({ type: "pending" }),
  fc
    .tuple(anyDecision, anyDelivery)
    .map(([decision, delivery]): ApprovalState => ({ type: "decided", decision, delivery })),
  fc
    .constantFrom(
      "no-longer-listed" as const,
      "run-over" as const,
      "run-missing" as const,
      "unwatched" as const,
    )
    .map((because): ApprovalState => ({ type: "closed", cause: because, at: NOON })),
);

export const anyApproval: fc.Arbitrary<Approval> = fc
  .record({
    id: anyId.map((id) => ApprovalId(id)),
    request: anyRequest,
    state: anyState,
    past: fc.array(anyPast, { maxLength: 12, size: "small" }),
    version: fc.constantFrom(1, 2, 37),
  })
  .map((facts) => ({
    ...newApproval(facts.id, facts.request, aNonce(), { now: NOON, monotonic: NOON }),
    ...facts,
  }));

const anyEnded: fc.Arbitrary<Ended | null> = fc
  .record({
    how: fc.constantFrom("succeeded" as const, "failed" as const, "canceled" as const),
    completedAt: fc.constantFrom(null, "", "soon", "2026-11-20T12:04:00Z", "0001-01-01T00:00:00Z"),
    output: fc.option(anyText),
    extra: fc.dictionary(short, fc.oneof(anyText, fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>), {
      maxKeys: 4,
    }),
  })
  .map((result) => endedRun(aWatchedRun(), result).seen?.ended ?? null);

const anyCreation: fc.Arbitrary<Creation> = fc
  .tuple(anyText, anyId)
  .chain(([words, id]) =>
    fc.constantFrom<Creation>(
      { type: "planned", notBefore: 0, tries: 1, why: words },
      { type: "sending", at: NOON, tries: 1 },
      { type: "created", id: RunId(id), at: NOON },
      { type: "created", id: RunId(id), at: NOON },
      { type: "created", id: RunId(id), at: NOON },
      { type: "refused", words, at: NOON },
      { type: "unknown", words, at: NOON, again: "asked" },
      { type: "unknown", words, at: NOON, again: "left" },
    ),
  );

const anyUpload: fc.Arbitrary<Upload> = anyText.chain((words) =>
  fc.constantFrom<Upload>(
    { type: "planned", notBefore: 0, tries: 0 },
    { type: "up", file: "F0" },
    { type: "refused", words },
  ),
);

const anyWatch = fc.constantFrom<Watch>(
  { type: "on" },
  { type: "missing", since: NOON, absence: { process: "this one", since: NOON, looks: 1 } },
  { type: "missing", since: NOON, absence: null },
  { type: "over", at: NOON },
  { type: "given-up", at: NOON },
  { type: "dropped", at: NOON, by: REQUESTER },
  { type: "dropped", at: NOON, by: REQUESTER, missing: true },
);

const anyUnreadable: fc.Arbitrary<Unreadable> = fc
  .array(
    fc.record({
      ids: fc.array(
        anyId.map((id) => ApprovalId(id)),
        { maxLength: 4 },
      ),
      code: fc.constant("no-id"),
      why: anyText,
      source: anyText.map((text) => clip(text.toWellFormed(), 2_000).shown),
      hidden: fc.nat(),
    }),
    { minLength: 1, maxLength: 5, size: "max" },
  )
  .map((items) => ({ since: NOON, what: "items", count: items.length, items }));

/** A run in any state, with at most `approvals` approvals. */
export const anyRun = (approvals = 3): fc.Arbitrary<Run> =>
  fc
    .record({
      input: anyTyped,
      origin: fc.constantFrom("started" as const, "adopted" as const),
      creation: anyCreation,
      watch: anyWatch,
      status: anyText,
      ended: fc.oneof(anyEnded, fc.constant(null)),
      approvals: fc.array(anyApproval, { maxLength: approvals, size: "max" }),
      upload: anyUpload,
      away: fc.boolean(),
      unreadable: fc.option(anyUnreadable),
    })
    .map(({ status, ended, upload, away, ...facts }) => ({
      ...aRun(),
      ...facts,
      seen: { status: ended === null ? status : ended.how, since: NOON, ended, lists: true, askedAt: NOON },
      uploads: Object.fromEntries(
        [OUTPUT, ...facts.approvals.map(requestSlot)].map((slot) => [slot, upload]),
      ),
      outage: { since: NOON, why: "HTTP 503", until: away ? null : NOON + 90_000 },
    }));
