// Twenty thousand strings on every surface that people read: no one is mentioned, nothing leads anywhere, every code
// point is seen, secrets stay out of the channel, and approvers can read all of it.

import { expect, test } from "vitest";
import { oneRun, runList } from "#src/adapters/slack/blocks/command-answers.ts";
import { healthReport } from "#src/adapters/slack/blocks/health-answer.ts";
import { changedModal, formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { homeView } from "#src/adapters/slack/blocks/home-view.ts";
import { privateNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { requestContent } from "#src/adapters/slack/files.ts";
import { ApprovalId, RunId } from "#src/domain/ids.ts";
import { isRecord } from "#src/domain/json.ts";
import { BACK, DOWN } from "#src/domain/render-key.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, OPENING, OUTCOME, UNREADABLE } from "#src/domain/slot.ts";
import { nameText } from "#src/domain/text/request-text.ts";
import { visible } from "#src/domain/text/text.ts";
import { chanceOf } from "../../../make/chance.ts";
import {
  anApproval,
  aNonce,
  APPROVER,
  aRun,
  aWatchedRun,
  NOON,
  TEAM,
  withApprovals,
} from "../../../make/run.ts";
import { endedRun, requestOf } from "../observed.ts";
import { type AnyString, anyString } from "./any-string.ts";
import { MARK } from "./hostile.ts";
import { faultIn, objectsIn, textOf, wire } from "./oracle.ts";
import { aQueuePage } from "../../../make/queue.ts";

const STRINGS = Number(process.env["FUZZ_STRINGS"] ?? 20_000);
const SEED = Number(process.env["FUZZ_SEED"] ?? 20_261_121);
const PER_ROUND = 20;

type Texts = (at: number) => string;
type Surface = { readonly text?: string; readonly blocks: unknown };

function requestFrom(text: Texts) {
  const content = { action: text(0), [text(1)]: text(2), why: text(3), deep: { a: text(4), b: [text(5)] } };
  return requestOf(text(0), content);
}

/** Surfaces that the whole channel reads. */
function channelSurfaces(text: Texts): readonly Surface[] {
  const request = requestFrom(text);
  const by = { team: TEAM, user: APPROVER };
  const decision = { verdict: "deny", reason: text(6), by, at: NOON, digest: request.digest } as const;
  const run: Run = {
    ...aWatchedRun(RunId(text(7).slice(0, 500)), { input: text(8) }),
    seen: { status: text(9), since: NOON, ended: null, lists: true, askedAt: NOON },
    outage: { since: NOON, why: text(10), until: NOON + 1 },
  };
  const refused = { type: "refused", at: NOON, words: text(11), absent: false } as const;
  const past = { decision, cause: "refused", words: text(12) } as const;
  const closed = { by: APPROVER, at: NOON, words: text(14) };
  const disputes = [{ entry: 1, by: APPROVER, at: NOON, closed }];
  const approvals = [
    { ...anApproval("apr_1"), request, past: [past] },
    {
      ...anApproval("apr_2"),
      request,
      disputes,
      state: { type: "decided", decision, delivery: refused } as const,
    },
  ];
  const held = withApprovals(run, ...approvals);
  const item = { ids: [ApprovalId("apr_3")], code: "no-id", why: text(4), source: text(5), hidden: 1 };
  const unread: Run = { ...run, unreadable: { since: NOON, what: "items", count: 1, items: [item] } };
  const linked = { run: held, link: null };
  const succeeded = endedRun(run, { how: "succeeded", output: text(13) });
  const failed = endedRun(run, { how: "failed", extra: { [text(14)]: text(15), detail: text(16) } });
  const record = { error: { code: text(14), message: text(15), at: text(16) } };
  const failedWithRecord = endedRun(run, { how: "failed", extra: record });
  const unstarted: Run = {
    ...aRun({ input: text(8) }),
    creation: { type: "refused", words: text(17), at: NOON },
  };
  const waits: Run = { ...aRun(), creation: { type: "planned", notBefore: 0, tries: 1, why: text(17) } };
  const report = {
    ok: false,
    latencyMs: 1,
    fault: text(18),
    publicFault: text(18),
    says: { status: text(19), endpoints: [text(19)] },
  };
  const poller = {
    watched: 1,
    inFlight: 0,
    service: { type: "away" as const, at: NOON, since: NOON, why: text(18), publicWhy: text(18) },
  };
  const health = {
    version: "1.2.3",
    key: "accepted" as const,
    waiting: { decisions: { count: 0, oldestMs: 0, late: 0 }, starts: 0 },
    parts: [],
    service: report,
    gateway: report,
    poller,
    unreadable: { runs: 0, approvals: 0, unanswered: 0 },
    store: { ok: true, latencyMs: 1, fault: null },
    audit: { open: [], code: null, acknowledged: 0 },
    policy: "in force" as const,
    frozen: { everywhere: null, channels: 0 },
  };
  const rows = { page: aQueuePage([waits]), own: [linked], moreOwn: false };
  return [
    ...approvals.map(({ id }) => messageIn(held, cardSlot(id))),
    messageIn(held, OPENING),
    messageIn(unread, UNREADABLE),
    messageIn(waits, OPENING),
    messageIn(succeeded, OUTCOME),
    messageIn(failed, OUTCOME),
    messageIn(failedWithRecord, OUTCOME),
    messageIn(unstarted, OUTCOME),
    messageIn(run, `${DOWN} ${NOON}`),
    messageIn(run, `${BACK} ${NOON}`),
    messageIn({ ...run, storm: { since: NOON, waiting: 9, at: NOON, until: null } }, `storm ${NOON}`),
    runList({ title: "Runs", none: "None." }, [linked], false),
    oneRun(linked),
    privateNotice({ type: "cannot-post", words: text(11) }, run),
    privateNotice(
      { type: "decision-refused", approval: approvals[0]?.id ?? anApproval().id, words: text(12) },
      run,
    ),
    healthReport(health, NOON),
    readModal(run, request),
    // The last block is the time, which is ours alone.
    { blocks: homeView(rows, NOON).blocks.slice(0, -1) },
  ];
}

async function round(strings: readonly AnyString[]): Promise<string | null> {
  const text: Texts = (at) => strings[at]?.text ?? "";
  const secrets = strings.flatMap(({ secret }) => secret ?? []);
  for (const [at, surface] of channelSurfaces(text).entries()) {
    const fault = faultIn(surface);
    if (fault !== null) return `surface ${at}: ${fault}`;
    const all = JSON.stringify(surface);
    const out = secrets.find((each) => all.includes(each));
    if (out !== undefined) return `surface ${at}: a secret, ${out}`;
  }
  return roundOfModals(text, strings);
}

/** Surfaces that only people who may decide see. */
async function roundOfModals(text: Texts, strings: readonly AnyString[]): Promise<string | null> {
  const [run, request] = [aWatchedRun(), requestFrom(text)];
  const was = requestOf(text(6), { action: text(6), why: text(7) });
  const modal = formView({ run, ticket: { saw: request, verdict: "approve", nonce: aNonce() } });
  for (const view of [modal, changedModal(run, was, request)]) {
    const fault = faultIn({ blocks: view.blocks });
    if (fault !== null) return `modal: ${fault}`;
    const shown = textOf(view);
    for (const at of [0, 1, 2, 3])
      if (!shown.includes(at === 1 ? nameText(text(at), "open") : visible(text(at))))
        return `modal: string ${at} is not whole`;
    const lost = strings.slice(0, 6).find(({ secret }) => secret !== null && !shown.includes(secret));
    if (lost !== undefined) return `modal: masked, ${lost.secret}`;
  }
  const { text: file } = await requestContent(request, null);
  const out = strings.find(({ secret }) => secret !== null && file.includes(secret));
  return out === undefined ? null : `file: a secret, ${out.secret}`;
}

test(`${STRINGS} strings on every surface break none of its rules`, async () => {
  const by = chanceOf(SEED);
  for (let made = 0; made < STRINGS; made += PER_ROUND) {
    const strings = Array.from({ length: PER_ROUND }, () => anyString(by));
    const fault = await round(strings);
    if (fault !== null)
      throw new Error(`${fault}\nseed ${SEED}, strings ${made} and on:\n${JSON.stringify(strings)}`);
  }
}, 120_000);

test("the check of a surface notices a mention, a link, markup, an unseen character and a stray string", () => {
  const bad: readonly Surface[] = [
    { text: "hello <!channel>", blocks: [] },
    { text: "hello :x:", blocks: [] },
    { text: "a\u202Eb", blocks: [] },
    { text: "x", blocks: [{ type: "rich_text", elements: [{ type: "broadcast", range: "channel" }] }] },
    { text: "x", blocks: [{ type: "link", url: "https://evil.example" }] },
    { text: "x", blocks: [{ type: "user", user_id: "U0EVIL" }] },
    { text: "x", blocks: [{ type: "text", text: "a\u200Bb" }] },
    { text: "x", blocks: [{ type: "mrkdwn", text: MARK }] },
    { text: "x", blocks: [{ type: "mrkdwn", text: "x" }] },
    { text: "x", blocks: [{ type: "button", value: MARK }] },
  ];
  expect(bad.filter((each) => faultIn(each) === null)).toEqual([]);
  expect(faultIn({ text: "fine", blocks: [{ type: "text", text: MARK }] })).toBeNull();
  expect(objectsIn(wire({ a: [{ b: 1 }] })).filter(isRecord)).toHaveLength(2);
});
