// Watched runs that need no work: their threads already show what the service says.

import { createHash, randomBytes } from "node:crypto";
import type { Context } from "#src/domain/context.ts";
import { ChannelId, MessageTs, Nonce, type RunId, RunKey, TeamId, UserId } from "#src/domain/ids.ts";
import { adoptedRun, type Run } from "#src/domain/run.ts";
import { OPENING } from "#src/domain/slot.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { markSending, applyOutcome } from "#src/domain/apply-outcome.ts";
import { openingRenderKey } from "#src/domain/render-key.ts";

/** One array, as in the app: after a change of the freezes, the poller applies known answers once more. */
const NO_FREEZES: Context["freezes"] = [];

/** The same as in `app.ts`. */
export const context = (now = Date.now()): Context => ({
  now,
  monotonic: now,
  process: "bench",
  digest: (text) => createHash("sha256").update(text, "utf8").digest("hex"),
  nonce: () => Nonce(randomBytes(16).toString("base64url")),
  slowestRetryMs: 15_000,
  policy: BUILT_IN,
  freezes: NO_FREEZES,
});

/** `quietMs` is the time since the run's last change. */
export function aQuietRun(id: RunId, index: number, quietMs: number): Run {
  const since = Date.now() - quietMs;
  const run = adoptedRun(id, {
    key: RunKey(`bench${index.toString(36).padStart(8, "0")}`),
    team: TeamId("T0SANDBOX"),
    channel: ChannelId("C0OPSAGENTS"),
    requester: UserId("U0ANA"),
    input: "Rotate the staging certificates, then tell the on-call person which hosts were done.",
    askedAt: since,
    answer: null,
  });
  const seen = { ...run, seen: { status: "running", since, ended: null, lists: true, askedAt: since } };
  const post = { type: "post", slot: OPENING } as const;
  const ts = MessageTs(`1763640000.${String(index).padStart(6, "0")}`);
  const posted = { type: "posted", ts, shows: openingRenderKey(seen) } as const;
  return applyOutcome(markSending(seen, post, since), post, posted, context(since));
}
