// The other messages of a run's thread.

import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { MessageId } from "#src/adapters/slack/blocks/message-id.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { applyListing } from "#src/domain/listing.ts";
import { markTampered } from "#src/domain/end-run.ts";
import { ApprovalId, MessageTs, RunId, UNKNOWN_PERSON } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { BUILT_IN_RULE, keptRule } from "#src/domain/policy/policy.ts";
import type { Upload } from "#src/domain/posted-message.ts";
import { BACK, DOWN } from "#src/domain/render-key.ts";
import {
  MISSING,
  STOPPED,
  cardSlot,
  listingSlot,
  OPENING,
  OUTCOME,
  OUTPUT,
  UNREADABLE,
} from "#src/domain/slot.ts";
import type { Creation, Run, Stop, Watch } from "#src/domain/run.ts";
import { allUnreadable, type Ending, type Unreadable } from "#src/domain/snapshot.ts";
import { aNonce, aWatchedRun, NOON, withApprovals } from "../../../../make/run.ts";
import { endedRun } from "../../observed.ts";
import {
  ANA,
  ASKED,
  BEN,
  CREATED,
  decided,
  DEPLOYMENT,
  type Example,
  FROZEN,
  LINK,
  one,
  PENDING,
  EXPIRED_AGAIN,
  REFUSED_DENIAL,
  seenAs,
} from "./example.ts";
import { FOLLOW_UP_MESSAGES } from "./follow-up.ts";

const opening = (run: Run, when = ""): Example => ({ when, drawn: messageIn(run, OPENING, DEPLOYMENT) });
const outcome = (run: Run, when = ""): Example => ({ when, drawn: messageIn(run, OUTCOME, DEPLOYMENT) });

const started = (creation: Creation): Run => ({ ...ASKED, creation });
const watchedAs = (watch: Watch): Run => ({ ...seenAs("running"), watch });

export const ended = (how: Ending, output: string | null, extra: { [field: string]: Json } = {}): Run =>
  endedRun(CREATED, { how, output, extra, completedAt: "2026-11-20T12:04:20Z" });

/** The run after its output was posted and forgotten. */
export const forgotten = (run: Run): Run => {
  const { seen } = run;
  return seen?.ended ? { ...run, seen: { ...seen, ended: { ...seen.ended, output: null } } } : run;
};

const confirmed = { type: "confirmed", at: NOON, stillListed: null } as const;

/** A run that succeeded. The service confirmed one denial of its three decisions. */
export const HALF_DONE = withApprovals(
  ended("succeeded", null),
  decided(confirmed, "deny"),
  decided({ type: "unconfirmed", at: NOON, cause: "run-missing" }, "deny"),
  decided(confirmed),
);

const unreadableAs = (unreadable: Unreadable | null): Run => ({
  ...CREATED,
  unreadable,
  posts: {
    [UNREADABLE]: { type: "up", ts: "1.1", shows: "", sweepAt: null } as unknown as Run["posts"][string],
  },
});

const why = { code: "garbled", why: "it is not JSON" };
const item = {
  ids: [ApprovalId("apr_2")],
  code: "no-action",
  why: "its action is a number",
  source: '{"id":"apr_2","action":7}',
  hidden: 0,
};
const unusable = allUnreadable(null, "answer", why, NOON);
const unlisted = allUnreadable(null, "list", { code: "no-list", why: "pending_approvals is missing" }, NOON);

const taken: Creation = { type: "taken", id: RunId("run_7"), at: NOON };
const refused: Creation = {
  type: "refused",
  words: "The agent service answered HTTP 422 (invalid_request): The task is empty.",
  at: NOON,
};
const unknown = (again: "asked" | "started" | "left"): Creation => ({
  type: "unknown",
  words: "reset",
  at: NOON,
  again,
});

const STOP: Stop = { by: BEN, at: NOON };
const MISSING_NOW = { type: "missing", since: NOON, absence: null } as const;

export const OPENINGS: Record<Extract<MessageId, `run:${string}`>, readonly Example[]> = {
  "run:starting": [opening(ASKED)],
  "run:delayed": [
    opening(started({ type: "planned", notBefore: 0, tries: 2, why: "The agent service answered HTTP 503" })),
  ],
  "run:not-started": [opening(started(refused))],
  "run:start-unknown": [opening(started(unknown("asked")))],
  "run:taken": [opening(started(taken))],
  "run:missing": [
    opening(watchedAs(MISSING_NOW)),
    opening({ ...watchedAs(MISSING_NOW), stop: STOP }, "stopped"),
  ],
  "run:given-up": [opening(watchedAs({ type: "given-up", at: NOON }))],
  "run:dropped": [opening(watchedAs({ type: "dropped", at: NOON, by: ANA }))],
  "run:tampered": [opening(watchedAs({ type: "tampered", at: NOON }))],
  "run:unusable": [opening({ ...seenAs("running"), unreadable: unusable })],
  "run:not-seen": [
    opening(CREATED),
    opening({ ...aWatchedRun(RunId("run_8"), { requester: ANA }), input: "" }, "started elsewhere"),
  ],
  "run:queued": [opening(seenAs("queued"))],
  "run:awaiting-approval": [opening(seenAs("awaiting_approval"))],
  "run:succeeded": [opening(ended("succeeded", null)), opening(HALF_DONE, "a request was denied")],
  "run:failed": [opening(ended("failed", null))],
  "run:canceled": [opening(ended("canceled", null))],
  "run:working": [opening(seenAs("running")), opening(seenAs("thinking_hard"), "a state we do not know")],
};

const OUTPUT_CHARS = "# Done\n\n- **3** hosts\n- [log](https://ci.example/1)\n\n```sh\nmake\n```";
const LONG_OUTPUT = `${"line\n".repeat(4)}${"x".repeat(8_000)}`;

function withFile(upload: Upload | null): Run {
  const run = ended("succeeded", LONG_OUTPUT);
  return upload === null ? run : { ...run, uploads: { [OUTPUT]: upload } };
}

export const OUTCOMES: Record<Extract<MessageId, `outcome:${string}`>, readonly Example[]> = {
  "outcome:succeeded": [
    outcome(ended("succeeded", OUTPUT_CHARS)),
    outcome(ended("succeeded", null), "without output"),
    outcome(forgotten(ended("succeeded", OUTPUT_CHARS)), "its output posted before"),
    outcome(HALF_DONE, "a request was denied"),
    outcome(withFile(null), "a long output, its file on the way"),
    outcome(withFile({ type: "up", file: "F0" }), "a long output, its file there"),
    outcome(
      withFile({ type: "refused", words: "Slack refused (no_space)" }),
      "a long output, its file refused",
    ),
  ],
  "outcome:failed": [
    outcome(ended("failed", null, { error: "exit 1", attempts: 3 })),
    outcome(
      ended("failed", null, { error: { code: "tool_error", message: "The deploy timed out." }, attempts: 3 }),
      "with an error record",
    ),
    outcome(ended("failed", null, { message: "The deploy timed out." }), "with a message"),
    outcome(ended("failed", null), "without a word"),
  ],
  "outcome:canceled": [outcome(ended("canceled", null, { created_at: "2026-11-20T12:00:00Z" }))],
  "outcome:ended": [outcome(CREATED)],
  "outcome:not-started": [outcome(started(refused))],
  "outcome:taken": [
    outcome(started(taken)),
    outcome({ ...started(taken), stop: STOP }, "stopped before the answer"),
  ],
  "outcome:unknown:asked": [
    outcome(started(unknown("asked")), "the answer was lost"),
    outcome(started({ ...unknown("asked"), restored: true } as Creation), "after a restore of an older copy"),
    outcome({ ...started(unknown("asked")), stop: STOP }, "stopped before the answer was lost"),
  ],
  "outcome:unknown:started": [outcome(started(unknown("started")))],
  "outcome:unknown:left": [outcome(started(unknown("left")))],
};

const MANY = applyListing(
  withApprovals(
    CREATED,
    ...[...Array(9).keys()].map((nth) => ({
      ...PENDING,
      id: ApprovalId(`apr_${nth + 1}`),
      nonce: aNonce(),
    })),
  ),
);
const TIMED = {
  version: "0123456789ab",
  rule: { ...keptRule(BUILT_IN_RULE), expiry: { afterMs: 3_600_000, outcome: "nothing" as const } },
};
const firstListing = (run: Run, when = ""): Example => ({
  when,
  drawn: messageIn(run, listingSlot(1), DEPLOYMENT),
});
const allDenied = MANY.approvals.map(({ listing, id }) => ({
  ...decided(confirmed, "deny"),
  id,
  listing: { page: 1, ...listing },
}));

const allClosed = MANY.approvals.map((approval, nth) => ({
  ...approval,
  state: {
    type: "closed" as const,
    cause: nth < 7 ? ("expired" as const) : ("no-longer-listed" as const),
    at: NOON,
  },
}));

export const LISTINGS: Record<Extract<MessageId, `digest:${string}`>, readonly Example[]> = {
  "digest:waiting": [
    firstListing(MANY),
    firstListing(
      { ...MANY, approvals: MANY.approvals.map((approval) => ({ ...approval, appliedRule: TIMED })) },
      "the requests have a deadline",
    ),
    firstListing({ ...MANY, frozen: FROZEN }, "the channel is frozen"),
    firstListing({ ...MANY, stop: STOP }, "the run is stopped"),
  ],
  "digest:over": [
    firstListing(applyListing({ ...MANY, approvals: allDenied })),
    firstListing(
      applyListing({ ...MANY, approvals: [...allDenied.slice(3), ...MANY.approvals.slice(0, 3)] }),
      "the last ones get cards",
    ),
    firstListing(applyListing({ ...MANY, approvals: allClosed }), "closed without a decision"),
  ],
};

const AWAY: Run = {
  ...CREATED,
  outage: {
    since: NOON,
    why: "The agent service answered HTTP 503 (Service Unavailable).",
    until: NOON + 200_000,
  },
};
const NOT_ASKED: Run = { ...AWAY, outage: { since: NOON, why: "", until: NOON + 200_000, unchecked: true } };
const known = (watch: Watch, run: Run = CREATED): Example => ({
  when: "",
  drawn: messageIn({ ...run, watch }, MISSING, DEPLOYMENT),
});
const REUSED: Run = { ...CREATED, creation: { type: "created", id: RunId("run_7"), at: NOON, reused: true } };

const denied = (delivery: Parameters<typeof decided>[0]): Approval => {
  const approval = decided(delivery, "deny");
  if (approval.state.type !== "decided") return approval;
  const decision = { ...approval.state.decision, by: null, stoppedBy: BEN };
  return { ...approval, state: { ...approval.state, decision } };
};
const lostDenial: Delivery = { type: "unconfirmed", at: NOON, cause: "no-longer-listed" };
const STOPPED_RUN = withApprovals(
  { ...CREATED, stop: STOP },
  denied(confirmed),
  denied({ type: "recorded" }),
);

const CARD = MessageTs("1.1");
const WITH_CARDS: Run = {
  ...STOPPED_RUN,
  posts: {
    [cardSlot(PENDING.id)]: { type: "up", ts: CARD, shows: "", sweepAt: null, notBefore: 0, tries: 0 },
  },
};

const stormy = (waiting: number, until: number | null = null) => ({
  ...CREATED,
  storm: { since: NOON, waiting, at: NOON, until },
});

export const NOTICES_IN_THREAD: Record<
  Extract<MessageId, `${"thread" | "unreadable"}:${string}`>,
  readonly Example[]
> = {
  ...FOLLOW_UP_MESSAGES,
  "thread:missing": [known(MISSING_NOW)],
  "thread:given-up": [
    known({ type: "given-up", at: NOON }),
    { ...known({ type: "given-up", at: NOON }, REUSED), when: "its id was used again" },
  ],
  "thread:unwatched": [
    known({ type: "dropped", at: NOON, by: ANA, missing: true }),
    {
      ...known({ type: "dropped", at: NOON, by: ANA, missing: true }, REUSED),
      when: "its id was used again",
    },
  ],
  "thread:known-again": [known({ type: "on" })],
  "thread:tampered": [known({ type: "tampered", at: NOON })],
  "thread:service-down": one(messageIn(AWAY, `${DOWN} ${NOON}`, DEPLOYMENT)),
  "thread:service-back": one(messageIn(AWAY, `${BACK} ${NOON}`, DEPLOYMENT)),
  "thread:service-unchecked": one(messageIn(NOT_ASKED, `${BACK} ${NOON}`, DEPLOYMENT)),
  "thread:storm": [
    { when: "", drawn: messageIn(stormy(41), `storm ${NOON}`, DEPLOYMENT) },
    { when: "one is left", drawn: messageIn(stormy(1), `storm ${NOON}`, DEPLOYMENT) },
  ],
  "thread:storm-over": one(messageIn(stormy(2, NOON), `storm ${NOON}`, DEPLOYMENT)),
  "thread:stopped": [
    { when: "", drawn: messageIn(STOPPED_RUN, STOPPED, DEPLOYMENT) },
    {
      when: "the requests have cards",
      drawn: messageIn(WITH_CARDS, STOPPED, DEPLOYMENT, new Map([[CARD, LINK]])),
    },
    {
      when: "the run is over",
      drawn: messageIn({ ...ended("failed", null), stop: STOP }, STOPPED, DEPLOYMENT),
    },
    {
      when: "some denials were never confirmed",
      drawn: messageIn(
        withApprovals(STOPPED_RUN, denied(lostDenial), denied(lostDenial)),
        STOPPED,
        DEPLOYMENT,
      ),
    },
    {
      when: "one denial was never confirmed",
      drawn: messageIn(
        withApprovals({ ...CREATED, stop: STOP }, denied(confirmed), denied(lostDenial)),
        STOPPED,
        DEPLOYMENT,
      ),
    },
    {
      when: "many requests were denied",
      drawn: messageIn(
        withApprovals(STOPPED_RUN, ...Array<Approval>(5).fill(denied(confirmed))),
        STOPPED,
        DEPLOYMENT,
      ),
    },
    {
      when: "approvals were sent before",
      drawn: messageIn(
        withApprovals(
          STOPPED_RUN,
          decided({ type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "" }),
          decided(lostDenial),
          decided(confirmed),
        ),
        STOPPED,
        DEPLOYMENT,
      ),
    },
    ...[lostDenial, confirmed].map((delivery) => ({
      when: `one approval was sent before, ${delivery.type}`,
      drawn: messageIn(withApprovals(STOPPED_RUN, decided(delivery)), STOPPED, DEPLOYMENT),
    })),
    { when: "no denial yet", drawn: messageIn({ ...CREATED, stop: STOP }, STOPPED, DEPLOYMENT) },
    {
      when: "its entry in the audit was changed",
      drawn: messageIn({ ...CREATED, stop: { ...STOP, by: UNKNOWN_PERSON } }, STOPPED, DEPLOYMENT),
    },
    {
      when: "of an earlier record",
      drawn: messageIn({ ...CREATED, stop: { ...STOP, ofEarlierRecord: true } }, STOPPED, DEPLOYMENT),
    },
    {
      when: "the service does not know the run",
      drawn: messageIn({ ...CREATED, watch: MISSING_NOW, stop: STOP }, STOPPED, DEPLOYMENT),
    },
    ...[REFUSED_DENIAL, EXPIRED_AGAIN].map((approval) => ({
      when: `the service refused a denial, ${approval.state.type}`,
      drawn: messageIn(withApprovals(STOPPED_RUN, denied(confirmed), approval), STOPPED, DEPLOYMENT),
    })),
    {
      when: "the run was tampered with",
      drawn: messageIn(markTampered(STOPPED_RUN, NOON), STOPPED, DEPLOYMENT),
    },
  ],
  "thread:stop-lifted": one(
    messageIn({ ...STOPPED_RUN, stop: { ...STOP, lifted: { by: ANA, at: NOON } } }, STOPPED, DEPLOYMENT),
  ),
  "unreadable:answer": one(messageIn(unreadableAs(unusable), UNREADABLE, DEPLOYMENT)),
  "unreadable:list": one(messageIn(unreadableAs(unlisted), UNREADABLE, DEPLOYMENT)),
  "unreadable:items": [
    {
      when: "",
      drawn: messageIn(
        unreadableAs({ since: NOON, what: "items", count: 1, items: [item] }),
        UNREADABLE,
        DEPLOYMENT,
      ),
    },
    {
      when: "several",
      drawn: messageIn(
        unreadableAs({ since: NOON, what: "items", count: 3, items: [{ ...item, hidden: 1_200 }] }),
        UNREADABLE,
        DEPLOYMENT,
      ),
    },
  ],
  "unreadable:over": one(messageIn(unreadableAs(null), UNREADABLE, DEPLOYMENT)),
};
