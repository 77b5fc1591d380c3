import { expect, test } from "vitest";
import { createRecorder } from "#sandbox/service/recorder.ts";
import { createTraffic } from "#sandbox/slack/traffic.ts";
import { logRequests } from "#sandbox/world/service-traffic.ts";

function watched(by?: string) {
  const clock = { ms: 1_000 };
  const now = (): number => clock.ms;
  const { requests, begin } = createRecorder(now);
  const traffic = createTraffic({ now, secrets: [] });
  logRequests({ traffic, now }, requests, by);
  const ask = (path: string) => begin({ method: "GET", path, route: "read-run", key: "right" }, {});
  const reported = () => traffic.lines().map(({ what, refused, ms }) => [what, refused, ms]);
  const lost = () => traffic.lines().map((line) => line.lost);
  return { clock, requests, ask, reported, lost };
}

test("each request is reported once, when it has ended, with its duration", () => {
  const { clock, ask, reported } = watched();
  const update = ask("/v1/agent/runs/a");
  update({ body: "" });
  expect(reported()).toEqual([]);
  clock.ms += 12;
  update({ status: 200 });
  update({ done: true });
  update({ done: true });
  expect(reported()).toEqual([["GET /v1/agent/runs/a → 200", null, 12]]);
});

test("a request that later ones overtake is also reported, when its turn comes", () => {
  const { ask, reported } = watched();
  const [slow, quick, later] = [ask("/slow"), ask("/quick"), ask("/later")];
  quick({ status: 200, done: true });
  later({ status: 404, done: true });
  slow({ status: 200, done: true });
  ask("/last")({ status: 200, done: true });
  expect(reported().map(([what]) => what)).toEqual([
    "GET /quick → 200",
    "GET /later → 404",
    "GET /slow → 200",
    "GET /last → 200",
  ]);
});

test.each([
  [{ status: 503 }, "GET /x → 503", "HTTP 503"],
  [{}, "GET /x → no answer", "no answer came"],
  [{ status: 200, lost: true }, "GET /x → 200, lost", "the answer was lost"],
])("a failure is reported as refused: %j", (change, what, refused) => {
  const { ask, reported } = watched();
  ask("/x")({ ...change, done: true });
  expect(reported()).toEqual([[what, refused, 0]]);
});

test("an aborted answer, a server error and a 429 count as lost, and every other answer as received", () => {
  const { ask, lost } = watched();
  ask("/x")({ done: true });
  ask("/x")({ status: 200, lost: true, done: true });
  for (const status of [503, 429, 404, 401, 200]) ask("/x")({ status, done: true });
  expect(lost()).toEqual([true, true, true, true, false, false, false]);
});

test("a request that the recorder has forgotten blocks no other", () => {
  const { requests, ask, reported } = watched("gateway ");
  ask("/forgotten");
  requests.clear();
  ask("/kept")({ status: 200, done: true });
  ask("/next")({ status: 200, done: true });
  expect(reported().map(([what]) => what)).toEqual(["gateway GET /kept → 200", "gateway GET /next → 200"]);
});
