// The answer of /agent health says what is known now, once, and no line contradicts another.

import { expect, test } from "vitest";
import { healthReport } from "#src/adapters/slack/blocks/health-answer.ts";
import type { ServiceState } from "#src/engine/service-breaker.ts";
import type { PartHealth } from "#src/ports/monitoring.ts";
import type { HealthAnswer } from "#src/usecases/queries.ts";
import { NOON } from "../../../make/run.ts";
import { textOf } from "./oracle.ts";

const part = { ok: true, latencyMs: 1, fault: null, publicFault: null, says: {} };
const well = {
  version: "1.2.3",
  key: "accepted" as HealthAnswer["key"],
  waiting: { decisions: { count: 0, oldestMs: 0, late: 0 }, starts: 0 },
  parts: [] as readonly PartHealth[],
  service: part as HealthAnswer["service"],
  gateway: part,
  poller: { watched: 1, inFlight: 0, service: { type: "answers" } as ServiceState },
  unreadable: { runs: 0, approvals: 0, unanswered: 0 },
  store: { ok: true, latencyMs: 1, fault: null as string | null },
  audit: { open: [], code: null, acknowledged: 0 },
  policy: "in force" as const,
  frozen: { everywhere: null, channels: 0 },
};
const reportWith = (facts: Partial<typeof well>): string =>
  textOf(healthReport({ ...well, ...facts }, NOON).blocks);
const UNTOUCHED = "no sign that the database was changed from outside";

test("the health report names the command of this workspace", () => {
  const found = { ...well, audit: { open: [], code: "c0de", acknowledged: 0 } };
  expect(textOf(healthReport(found, NOON, "/countersign").blocks)).toContain(
    "/countersign audit acknowledge",
  );
});

test("shows each line about findings once, so that repeated ones hide no other, and says where all are listed", () => {
  const finding = (id: number, words: string) => ({ id: String(id), words, run: null });
  const fifteen = Array.from({ length: 15 }, (_each, id) => finding(id, "a batch of rows was changed"));
  const open = [...fifteen, finding(15, "audit entry 25: it was changed")] as never[];
  const report = (found: never[]) =>
    reportWith({ audit: { open: found, code: "c0de" as never, acknowledged: 0 } });
  expect(report(open).split("a batch of rows was changed")).toHaveLength(2);
  expect(report(open)).toContain("audit entry 25: it was changed");
  expect(report(open)).not.toContain(" more");
  const others = Array.from({ length: 7 }, (_each, id) => finding(id, `row ${id} was changed`)) as never[];
  expect(report(others)).toContain("… and 2 more");
  expect(report(others)).toContain("npm run audit -- verify lists all findings");
});

test("calls the database unchanged only while nothing was found and it can be checked", () => {
  expect(reportWith({})).toContain(UNTOUCHED);
  expect(reportWith({ audit: { ...well.audit, acknowledged: 1 } })).not.toContain(UNTOUCHED);
  expect(reportWith({ store: { ok: false, latencyMs: 1, fault: null } })).not.toContain(UNTOUCHED);
});

test("says why the store does not answer", () => {
  const fault = "the database failed: its file was deleted or replaced while Countersign runs";
  expect(reportWith({ store: { ok: false, latencyMs: 1, fault } })).toContain("file was deleted or replaced");
});

const away = (code: string, why: string, facts: Partial<typeof well> = {}): string => {
  const service = { type: "away" as const, at: NOON - 60_000, since: 0, why, publicWhy: why, code };
  return reportWith({ key: "unknown", poller: { ...well.poller, service }, ...facts });
};
const silent = { ...part, ok: false, fault: "The agent service did not answer within 4 s." };

test("says of an outage only what is true for all of it, and the newest failure", () => {
  for (const [code, why] of [
    ["http_503", "The agent service answered HTTP 503."],
    ["timeout", "The agent service did not answer within 10 s."],
  ] as const) {
    expect(away(code, why)).toMatch(/; no usable answer since .*: /);
    expect(away(code, why)).toContain(why);
  }
});

test("does not call the key accepted, or the service answering, while the service does not answer", () => {
  for (const service of [silent, part]) {
    const shown = reportWith({ service, key: "unknown" });
    expect(shown).not.toMatch(/is accepted|the service answers|✅ Watching/);
    expect(shown).toContain("Agent service key: not checked;");
  }
});

test("says once that the key is refused, and what to do", () => {
  const refused = "The agent service answered HTTP 401 (Unauthorized).";
  for (const shown of [reportWith({ key: "refused" }), away("http_401", refused, { key: "refused" })]) {
    expect(shown.split("AGENT_API_KEY.")).toHaveLength(2);
    expect(shown).toMatch(/Watching: 1 run; no usable answer .*key refused, see above/);
    expect(shown).not.toContain("the service answers");
  }
});

test("does not repeat why the service does not answer", () => {
  const shown = away("timeout", "The agent service did not answer within 10 s.", { service: silent });
  expect(shown.match(/did not answer/g)).toHaveLength(1);
  expect(shown).toMatch(/no usable answer since .*: see above/);
  const other = away("http_503", "The agent service answered HTTP 503.", { service: silent });
  expect(other).toMatch(/no usable answer since .*: The agent service answered HTTP 503\./);
});

test("says that an outage is over as soon as a fetch is answered", () => {
  const shown = away("timeout", "The agent service did not answer within 10 s.", { key: "accepted" });
  expect(shown).toMatch(/1 run; no usable answer for .*, from .* until just now/);
});

test("says why the key is not checked while the service asks to wait", () => {
  const shown = reportWith({ key: "paused" });
  expect(shown.match(/the service asked Countersign to wait/g)).toHaveLength(2);
  expect(shown).not.toContain("the service answers");
});

test("counts what waits for the service", () => {
  const shown = reportWith({ waiting: { decisions: { count: 3, oldestMs: 9_000, late: 0 }, starts: 1 } });
  expect(shown).toContain("Decisions: 3 recorded, not confirmed by the service yet");
  expect(shown).toContain("Starts: 1 run not started yet; retrying");
  expect(reportWith({})).not.toMatch(/Decisions:|Starts:/);
});

test("shows that the watching is stuck, and not that it goes well", () => {
  const fault = "the watching of runs has been stuck for 40 s";
  const shown = reportWith({ parts: [{ part: "watching", fault, unready: false }] });
  expect(shown.match(/Watching/g)).toHaveLength(1);
  expect(shown).toContain("❌ Watching: 1 run. The watching of runs has been stuck");
});

test("distinguishes runs whose answers cannot be used from runs with unreadable approvals", () => {
  const shown = reportWith({ unreadable: { runs: 0, approvals: 0, unanswered: 2 } });
  expect(shown).toContain("Something is wrong");
  expect(shown).toContain("answers about 2 runs cannot be used");
  expect(shown).not.toContain("approvals that cannot be read");
});

test("watching is not called faulty only because the check, which is more impatient than a poll, got no answer", () => {
  expect(reportWith({ key: "unknown" })).toContain("⚠️ Watching");
  expect(reportWith({ key: "unknown", poller: { ...well.poller, service: { type: "unknown" } } })).toContain(
    "❌ Watching",
  );
});
