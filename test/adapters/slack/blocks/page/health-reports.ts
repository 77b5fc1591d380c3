// The answers of /agent health.

import { named } from "#src/adapters/slack/blocks/deployment.ts";
import { healthReport } from "#src/adapters/slack/blocks/health-answer.ts";
import type { MessageId } from "#src/adapters/slack/blocks/message-id.ts";
import type { ServiceState } from "#src/engine/service-breaker.ts";
import type { PartHealth } from "#src/ports/monitoring.ts";
import type { HealthAnswer } from "#src/usecases/queries.ts";
import { NOON } from "../../../../make/run.ts";
import { DEPLOYMENT, type Example, FROZEN } from "./example.ts";

const part = (says: HealthAnswer["service"]["says"]): HealthAnswer["service"] => ({
  ok: true,
  latencyMs: 12,
  fault: null,
  publicFault: null,
  says,
});

const WELL: HealthAnswer = {
  version: "0.2.0",
  key: "accepted",
  waiting: { decisions: { count: 0, oldestMs: 0, late: 0 }, starts: 0 },
  parts: [],
  policy: "in force",
  service: part({ status: "ok", version: "1.4.2" }),
  gateway: part({
    service: "gateway",
    status: "healthy",
    message: "fine",
    endpoints: ["/healthz", "/v1/models"],
  }),
  poller: { watched: 1_204, inFlight: 3, service: { type: "answers" } },
  unreadable: { runs: 0, approvals: 0, unanswered: 0 },
  store: { ok: true, latencyMs: 1, fault: null },
  audit: { open: [], code: null, acknowledged: 0 },
  frozen: { everywhere: null, channels: 0 },
};

const faultyPart = (part: PartHealth["part"], fault: string): PartHealth => ({ part, fault, unready: false });

const down = { at: NOON - 95_000, since: NOON };

const REFUSED = "The agent service refused the connection.";
const SILENT: HealthAnswer["service"] = {
  ok: false,
  latencyMs: 3,
  fault: REFUSED,
  publicFault: REFUSED,
  says: {},
};
const AWAY: ServiceState = { type: "away", ...down, why: REFUSED, publicWhy: REFUSED };
const WAITING = { count: 3, oldestMs: 9_000, late: 0 };

const ILL: Record<string, Partial<HealthAnswer>> = {
  "some approvals cannot be read": { unreadable: { runs: 1, approvals: 2, unanswered: 0 } },
  "the service has just gone": { key: "unknown", service: SILENT },
  "the key has just been replaced at the service": { key: "refused" },
  "the service asks to wait": { key: "paused", waiting: { decisions: WAITING, starts: 2 } },
  "the service is back, and the poller does not know it yet": { poller: { ...WELL.poller, service: AWAY } },
  "some answers cannot be used": { unreadable: { runs: 0, approvals: 0, unanswered: 2 } },
  "no answer of the service can be used": {
    poller: {
      ...WELL.poller,
      service: {
        type: "useless",
        ...down,
        why: "It is not JSON.",
        publicWhy: "It is not JSON.",
        runs: 1_204,
      },
    },
  },
  "service and store are down": {
    key: "unknown",
    service: SILENT,
    poller: { ...WELL.poller, service: AWAY },
    waiting: { decisions: WAITING, starts: 1 },
    store: { ok: false, latencyMs: 0, fault: null },
  },
  "the token and the key are refused, and decisions wait": {
    key: "refused",
    poller: { ...WELL.poller, service: AWAY },
    waiting: { decisions: { count: 3, oldestMs: 180_000, late: 2 }, starts: 0 },
    parts: [
      faultyPart("slack_token", "Slack refuses SLACK_BOT_TOKEN (token_revoked): nothing is posted"),
      faultyPart(
        "decisions",
        "2 decisions are recorded and not confirmed by the service, the oldest for 3 min",
      ),
    ],
  },
  "a new key cannot be read": {
    parts: [
      faultyPart(
        "key_file",
        "the file of AGENT_API_KEY_FILE holds no key that Countersign can use, so the old key stays in use: once the service revokes it, no decision arrives. Correct the file, its owner or its mode: the log says what is wrong",
      ),
    ],
  },
  "the database was changed": {
    audit: {
      open: [{ id: "1", words: "run run_7: the row does not match its seal", run: null }],
      code: "0123456789",
      acknowledged: 0,
    },
  },
  "the policy's file can't be used": { policy: "faulty" },
  "a new policy could not be recorded": { policy: "not recorded" },
  "a change was acknowledged": { audit: { open: [], code: null, acknowledged: 1 } },
};

const health = (when: string, facts: Partial<HealthAnswer> = {}): Example => ({
  when,
  drawn: named(healthReport({ ...WELL, ...facts }, NOON), DEPLOYMENT),
});

export const HEALTH_ANSWERS: Record<Extract<MessageId, `answer:health:${string}`>, readonly Example[]> = {
  "answer:health:ok": [
    health(""),
    health("a change was acknowledged", ILL["a change was acknowledged"]),
    health("frozen", { frozen: { everywhere: { ...FROZEN, channel: null }, channels: 2 } }),
  ],
  "answer:health:faulty": Object.entries(ILL)
    .filter(([, { audit }]) => audit?.acknowledged !== 1)
    .map(([when, facts]) => health(when, facts)),
};
