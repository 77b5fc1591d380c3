// A load balancer that relies only on /readyz, and requests signed by Slack that go through it, one after the other.

import { createHmac } from "node:crypto";
import { setTimeout as later } from "node:timers/promises";
import type { World } from "#sandbox/world/world.ts";
import { PATIENT } from "../make/patient.ts";
import { ana, opsAgents } from "../make/world.ts";

/** docs/postgres.md asks for one check a second. */
const ASKS_EVERY_MS = 1_000;
const REQUEST_EVERY_MS = 50;
/** How long a request may take, as in the other tests. */
const ANSWER_MS = PATIENT.ackMs;

export type Knocking = {
  /** Ends the requests. Resolves to the number of requests and to the refusals. */
  stop(): Promise<{ readonly asked: number; readonly refused: readonly string[] }>;
};

export async function knockThroughBalancer(world: World): Promise<Knocking> {
  const ports = (world.bot?.replicas ?? []).map(({ port }) => port);
  const ended = new AbortController();
  let ready: readonly number[] = [];
  const look = async (): Promise<void> => {
    const seen = await Promise.all(ports.map(isReady));
    ready = ports.filter((_, nth) => seen[nth]);
  };
  const looking = until(ended.signal, ASKS_EVERY_MS, look);
  await look();
  const refused: string[] = [];
  let asked = 0;
  const knocking = until(ended.signal, REQUEST_EVERY_MS, async () => {
    const port = ready[asked % Math.max(ready.length, 1)];
    asked += 1;
    const why = port === undefined ? "no replica is ready" : await refusalOf(world, port, asked);
    if (why !== null) refused.push(why);
  });
  return {
    async stop() {
      ended.abort();
      await Promise.all([looking, knocking]);
      return { asked, refused };
    },
  };
}

async function until(ended: AbortSignal, everyMs: number, act: () => Promise<void>): Promise<void> {
  for (; !ended.aborted; await later(everyMs)) await act();
}

async function isReady(port: number): Promise<boolean> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  return fetch(`http://127.0.0.1:${port}/readyz`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Resolves to null if the request is answered as Slack expects. */
async function refusalOf({ slack }: World, port: number, nth: number): Promise<string | null> {
  const body = new URLSearchParams({
    command: "/agent",
    text: "help",
    team_id: slack.workspace.team.id,
    user_id: ana,
    channel_id: opsAgents,
    trigger_id: `1.${nth}.balancer`,
    response_url: `${slack.url}response/T0SANDBOX/balancer`,
  }).toString();
  const at = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", slack.signingSecret).update(`v0:${at}:${body}`).digest("hex");
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    "x-slack-request-timestamp": at,
    "x-slack-signature": `v0=${signature}`,
  };
  const signal = AbortSignal.timeout(ANSWER_MS);
  return fetch(`http://127.0.0.1:${port}/slack/events`, { method: "POST", headers, body, signal }).then(
    async (answer) => (await answer.text(), answer.ok ? null : `${answer.status}`),
    (error: unknown) => String(error instanceof Error ? (error.cause ?? error) : error),
  );
}
