// Plays the campaign's lives without a fault. The campaign has faults for each call that they make to the service and to Slack.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentRoutes } from "#sandbox/service/agent-api.ts";
import { SLACK_METHODS } from "#src/adapters/http/label-values.ts";
import { type OneProcess, startLane } from "../crash/lane.ts";
import { playLife } from "./play-life.ts";
import { type Call, CALLS, LEFT_OUT } from "./wire-cases.ts";
import { forWire } from "./wire-faults.ts";

const folder = mkdtempSync(join(tmpdir(), "calls-"));
const made: string[] = [];
let lane: OneProcess;

beforeAll(async () => {
  lane = await startLane((env) => forWire(env, join(folder, "key")));
  const { slack, service } = lane.world;
  slack.traffic.onLine(({ from, what }) => {
    if (from === "app" && !what.startsWith("acknowledges ")) made.push(what);
  });
  let seen = newest();
  service.requests.subscribe(() => {
    const requests = service.requests.after(seen);
    seen = newest();
    made.push(...requests.map(({ route, path }) => route ?? path));
  });
});
afterAll(async () => {
  await lane.stop();
  rmSync(folder, { recursive: true });
});

const newest = (): number => lane.world.service.requests.all().at(-1)?.number ?? 0;

const NAMES: ReadonlySet<string> = new Set(CALLS.map(({ call }) => call));
const isKnown = (call: string): boolean => NAMES.has(call) || Object.hasOwn(LEFT_OUT, call);

/** The rows of one life, which begin at the same act. */
function livesOf(calls: readonly Call[]): (readonly [string, readonly [Call, ...Call[]]])[] {
  const nameOf = ({ from, task = "deploy billing", readsMs = 0 }: Call): string =>
    `from the ${from} on, ${readsMs > 0 ? "after reading, " : ""}the life of "${task}"`;
  return [...Map.groupBy(calls, nameOf)].flatMap(([name, [first, ...rest]]) =>
    first === undefined ? [] : [[name, [first, ...rest]] as const],
  );
}

test.for(livesOf(CALLS.filter(({ lost }) => lost === undefined)))(
  "%s makes the calls that the campaign faults, and no other",
  { timeout: 60_000 },
  async ([name, rows]) => {
    let since = 0;
    const { stuck } = await playLife(lane, { ...rows[0], name }, () => {
      since = made.length;
      return Promise.resolve(() => Promise.resolve());
    });
    expect(stuck).toBeNull();
    const missing = rows.filter(({ call, nth = 1 }) => count(made.slice(since), call) < nth);
    expect(missing).toEqual([]);
    expect([...new Set(made.slice(since))].filter((call) => !isKnown(call))).toEqual([]);
  },
);

const count = (calls: readonly string[], call: string): number =>
  calls.filter((each) => each === call).length;

test(
  "what the bot does late, for example its receipts, adds no other call",
  { timeout: 60_000 },
  async () => {
    await lane.quiet();
    expect([...new Set(made)].filter((call) => !isKnown(call))).toEqual([]);
  },
);

test("each call of the bot has faults in the campaign or a reason for having none, and not both", () => {
  const all = [...SLACK_METHODS, ...agentRoutes.map(({ name }) => name)];
  expect(all.filter((call) => !isKnown(call))).toEqual([]);
  expect(Object.keys(LEFT_OUT).filter((call) => NAMES.has(call))).toEqual([]);
});
