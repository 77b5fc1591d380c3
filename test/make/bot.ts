// The use cases on a real store in memory, with a manual clock and hand-written fakes of the service, Slack and people.

import { afterEach } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { type Bot, createBot } from "#src/bot.ts";
import { ALONE } from "#src/engine/lease-keeper.ts";
import { createFreezes } from "#src/engine/freezes.ts";
import type { Person } from "#src/domain/authorization.ts";
import { channelOf } from "#src/domain/gathered-call.ts";
import {
  type ApprovalId,
  type ChannelId,
  ChannelId as toChannelId,
  type GroupId,
  MessageTs,
  type RunId,
  type UserId,
  UserId as toUserId,
} from "#src/domain/ids.ts";
import { BUILT_IN, type Policy } from "#src/domain/policy/policy.ts";
import type { NoticeContent } from "#src/domain/notice.ts";
import { findApproval, type Run } from "#src/domain/run.ts";
import { cardSlot, type Slot } from "#src/domain/slot.ts";
import type { UnreadableItem } from "#src/domain/snapshot.ts";
import {
  type AgentService,
  type Chat,
  type DecisionAnswer,
  type FetchedRun,
  type Gateway,
  type People,
  PortError,
} from "#src/ports.ts";
import type { PolicyReading, SlackHealth } from "#src/ports/monitoring.ts";
import type { Store } from "#src/ports/store.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { createHandClock, type HandClock } from "./clock.ts";
import { aSnapshot, contextAt, type ListedApproval } from "./history.ts";
import { type HandOwnMessages, handOwnMessages } from "./own-messages.ts";
import { type HandMail, handMail } from "./mail.ts";
import { HEALTHY_SLACK, quietLog, quietMetrics, type Waiting } from "./quiet.ts";
import { APPROVER, aRunId, aRunKey, aWatchedRun, CHANNEL, NOON, TEAM } from "./run.ts";

export const LIMITS = { minMs: 1_000, maxMs: 15_000, maxInFlight: 4 };
const FINE = { ok: true, latencyMs: 1, fault: null, publicFault: null, says: {} };

export const failure = (
  code: string,
  facts: Partial<ConstructorParameters<typeof PortError>[1]> = {},
): PortError => new PortError(code, { applied: "no", retry: "later", code, ...facts });

/** A service whose runs a test sets. `beforeLook` may wait or reject. */
export type HandAgents = AgentService & {
  readonly pending: Map<RunId, readonly ListedApproval[]>;
  readonly unreadable: Map<RunId, readonly UnreadableItem[]>;
  readonly statuses: Map<RunId, string>;
  /** The runs that wait for approval but do not list their approvals. */
  readonly untold: Set<RunId>;
  /** The task that the service reports for a run. The default is "task". */
  readonly inputs: Map<RunId, string | null>;
  readonly looks: { readonly id: RunId; readonly at: number; readonly timeoutMs: number | undefined }[];
  readonly resolved: { readonly approval: ApprovalId; readonly verdict: string; readonly reason: string }[];
  readonly created: string[];
  beforeLook: (id: RunId, timeoutMs?: number) => Promise<void>;
  answer: () => Promise<DecisionAnswer>;
};

function handAgents(clock: HandClock): HandAgents {
  const says = (id: RunId, askedAt: number): FetchedRun => {
    const status = agents.statuses.get(id);
    const pending = agents.pending.get(id) ?? [];
    if (status === "missing") return { type: "missing", askedAt };
    const input = agents.inputs.get(id);
    const unreadable = agents.unreadable.get(id) ?? [];
    const told = input === undefined ? { askedAt, unreadable } : { askedAt, unreadable, input };
    const facts = status === undefined ? told : { ...told, status };
    const said = agents.untold.has(id)
      ? aSnapshot(aWatchedRun(id), null, { ...facts, status: "awaiting_approval" })
      : aSnapshot(aWatchedRun(id), pending, facts);
    return { type: "snapshot", snapshot: said };
  };
  const agents: HandAgents = {
    pending: new Map(),
    unreadable: new Map(),
    statuses: new Map(),
    untold: new Set(),
    inputs: new Map(),
    looks: [],
    resolved: [],
    created: [],
    beforeLook: () => Promise.resolve(),
    answer: () => Promise.resolve({ type: "confirmed" }),
    async create(input) {
      agents.created.push(input);
      const fetched = says(aRunId(), clock.monotonic());
      if (fetched.type === "missing") throw new Error("the fake service has no new run to create");
      return fetched.snapshot;
    },
    async fetchRun(id, timeoutMs) {
      const at = clock.monotonic();
      agents.looks.push({ id, at, timeoutMs });
      await agents.beforeLook(id, timeoutMs);
      return says(id, at);
    },
    sendDecision(_run, approval, { verdict, reason }) {
      agents.resolved.push({ approval, verdict, reason });
      return agents.answer();
    },
    health: () => Promise.resolve(FINE),
  };
  return agents;
}

/** A Slack that does everything immediately. */
export type HandChat = Chat & {
  readonly posts: { readonly slot: Slot; readonly channel: ChannelId; readonly ts: MessageTs }[];
  readonly told: { readonly to: UserId | ChannelId; readonly says: NoticeContent }[];
  waitForTurn: Chat["waitForTurn"];
};

function handChat(): HandChat {
  const chat: HandChat = {
    posts: [],
    told: [],
    waitForTurn: () => Promise.resolve(),
    raiseUrgency: () => undefined,
    shareLimits: () => undefined,
    notifyIfQueued: () => Promise.resolve(),
    post(run, slot) {
      const channel = channelOf(run, slot);
      const ts = MessageTs(`1700000000.${String(chat.posts.length).padStart(6, "0")}`);
      chat.posts.push({ slot, channel, ts });
      return Promise.resolve(ts);
    },
    update: () => Promise.resolve("updated"),
    find: (run, slot) =>
      Promise.resolve(
        chat.posts
          .filter((each) => each.slot === slot && each.channel === channelOf(run, slot))
          .map(({ ts }) => ts),
      ),
    isThere: () => Promise.resolve(true),
    remove: () => Promise.resolve(),
    upload: () => Promise.resolve({ file: "F1" }),
    share: () => Promise.resolve("shared"),
    hasFile: () => Promise.resolve(true),
    notify(_run, to, says) {
      chat.told.push({ to, says });
      return Promise.resolve();
    },
  };
  return chat;
}

export type HandPeople = People & {
  /** Facts about everyone who is looked up. */
  facts: Partial<Person>;
  before: (maxAgeMs: number) => Promise<void>;
  channels: ReadonlySet<ChannelId>;
  /** The groups and channels that everyone who is looked up is in. */
  sets: ReadonlySet<GroupId | ChannelId>;
  /** Additional groups and channels of individual people. */
  ownSets: ReadonlyMap<UserId, ReadonlySet<GroupId | ChannelId>>;
  names: ReadonlyMap<string, string>;
};

function handPeople(): HandPeople {
  const people: HandPeople = {
    facts: {},
    before: () => Promise.resolve(),
    channels: new Set([CHANNEL]),
    sets: new Set(),
    ownSets: new Map(),
    names: new Map(),
    shareLimits: () => undefined,
    async lookUp(team, user, _channel, maxAgeMs) {
      await people.before(maxAgeMs);
      return { team, user, kind: "member", seesChannel: true, ...people.facts };
    },
    async memberOf(user, sets, maxAgeMs) {
      if (sets.length > 0) await people.before(maxAgeMs);
      const own = people.ownSets.get(user);
      return new Map(sets.map((set) => [set, people.sets.has(set) || own?.has(set) === true]));
    },
    async channelsOf(_user, maxAgeMs) {
      await people.before(maxAgeMs);
      return people.channels;
    },
    nameOf: (user) => Promise.resolve(people.names.get(user) ?? null),
    membersOf: () => Promise.resolve([REQUESTER_OF_BENCH, APPROVER]),
    isPublic: () => Promise.resolve(true),
  };
  return people;
}

export type Bench = {
  readonly clock: HandClock;
  store: Store;
  readonly agents: HandAgents;
  readonly chat: HandChat;
  readonly people: HandPeople;
  readonly notificationSender: HandMail;
  readonly ownMessages: HandOwnMessages;
  readonly refusals: string[];
  /** The counted outcomes of decisions, in order, such as "approve confirmed". */
  readonly decisions: string[];
  /** The values that the outage metric was set to, in order. */
  readonly outages: boolean[];
  /** The newest values of the metrics of waiting notifications. */
  readonly waiting: Readonly<Waiting>;
  /** The people who get alerts. A change applies immediately. */
  readonly admins: UserId[];
  /** The policy in force. A change applies immediately. */
  policy: Policy;
  policyReading: PolicyReading;
  /** The state of the connection to Slack. */
  connection: ReturnType<SlackHealth["connection"]>;
  /** The calls that Slack's Web API has left without an answer. */
  unanswered: ReturnType<SlackHealth["unanswered"]>;
  readonly warnings: string[];
  readonly errors: string[];
  flow: Bot;
  /** Replaces the process by a new one on the same store. Meanwhile, the machine's clock is set forward or back by `stepMs`. */
  restart(stepMs?: number): Promise<void>;
  run(id: RunId): Promise<Run>;
  revision(id: RunId): Promise<number>;
  /** Creates a watched run whose card is posted, and resolves to the click that an approver makes on it. */
  withCard(): Promise<{ id: RunId; approval: ApprovalId; click: Click }>;
};

export const ADMIN = toUserId("U0ADMIN");
export const AUDIT_CHANNEL = toChannelId("C0AUDIT");

const open: Bench[] = [];
afterEach(async () => {
  for (const bench of open.splice(0)) {
    const stopped = bench.flow.stop(1_000);
    await bench.clock.pass(2_000);
    await stopped;
    await bench.store.close();
  }
});

/** Creates a bench. If `database` is a file, a restart opens it again. */
export async function createBench(
  limits: Partial<typeof LIMITS> = {},
  random = 0,
  database = ":memory:",
  leaseTimes = ALONE,
): Promise<Bench> {
  const clock = createHandClock();
  const times = { now: clock.monotonic, onNewestTime: clock.continueAfter };
  const openIt = (): Promise<Store> => openStore({ url: `sqlite:${database}`, owner: "test", ...times });
  const store = await openIt();
  const [agents, chat] = [handAgents(clock), handChat()];
  const [people, notificationSender] = [handPeople(), handMail()];
  const ownMessages = handOwnMessages();
  const audit = { team: TEAM, channel: AUDIT_CHANNEL, admins: [ADMIN] };
  const refusals: string[] = [];
  const decisions: string[] = [];
  const outages: boolean[] = [];
  const waiting = { all: 0, alarms: 0 };
  const warnings: string[] = [];
  const errors: string[] = [];
  const gateway: Gateway = { health: () => Promise.resolve(FINE) };
  const context = () => ({
    ...contextAt(clock.now() - NOON, bench.policy),
    monotonic: clock.monotonic(),
    freezes: freezes.now(),
  });
  const log = quietLog(warnings, errors);
  let freezes = createFreezes(store, log);
  const decision = (verdict: string, outcome: string) => void decisions.push(`${verdict} ${outcome}`);
  const metrics = { ...quietMetrics(refusals, outages, waiting), decision };
  const ports = {
    store,
    agents,
    gateway,
    chat,
    notificationSender,
    ownMessages,
    drawLookBack: () => Promise.resolve(Buffer.from("a picture")),
    audit,
    people,
    clock,
    context,
    log,
    metrics,
  };
  const start = (): Bot => {
    freezes = createFreezes(bench.store, log);
    return createBot(
      {
        ...ports,
        store: bench.store,
        storeFaults: { since: () => ({ count: 0, code: "" }) },
        slackHealth: {
          ...HEALTHY_SLACK,
          connection: () => bench.connection,
          unanswered: () => bench.unanswered,
        },
        version: "0.0.0",
        freezes,
        auditSink: null,
        keepFinishedMs: 30 * 24 * 60 * 60_000,
        leaseTimes,
        followPolicy: () => Promise.resolve(false),
        policyReading: () => bench.policyReading,
        newKey: () => aRunKey(),
        random: () => random,
      },
      { ...LIMITS, ...limits },
    );
  };
  const bench: Bench = {
    clock,
    store,
    agents,
    chat,
    people,
    notificationSender,
    ownMessages,
    refusals,
    decisions,
    outages,
    waiting,
    admins: audit.admins,
    warnings,
    errors,
    policy: BUILT_IN,
    policyReading: "in force",
    connection: "connected",
    unanswered: null,
    ...acts(() => bench, start, database === ":memory:" ? null : openIt),
  } as Bench;
  bench.flow = start();
  await bench.flow.start();
  open.push(bench);
  return bench;
}

function acts(
  bench: () => Bench,
  start: () => Bot,
  reopen: (() => Promise<Store>) | null,
): Pick<Bench, "restart" | "run" | "revision" | "withCard"> {
  async function stored(id: RunId) {
    const key = await bench().store.byRunId(id);
    const found = key === null ? null : await bench().store.load(key);
    if (found === null) throw new Error(`the store has no run ${id}`);
    return found;
  }
  return {
    run: async (id) => (await stored(id)).run,
    revision: async (id) => (await stored(id)).revision,
    async restart(stepMs = 0) {
      const stopped = bench().flow.stop(0);
      await bench().clock.pass(1);
      await stopped;
      bench().clock.step(stepMs);
      if (reopen !== null) {
        await bench().store.close();
        bench().clock.reboot();
        bench().store = await reopen();
      }
      bench().flow = start();
      await bench().flow.start();
      await bench().clock.rest();
    },
    async withCard() {
      const { agents, flow, clock } = bench();
      const id = aRunId();
      agents.pending.set(id, ["apr_1"]);
      await flow.adoptRun.adopt({ team: TEAM, user: REQUESTER_OF_BENCH, channel: CHANNEL }, id);
      await clock.pass(1_000);
      const { run } = await stored(id);
      return { id, ...clickOn(run) };
    },
  };
}

const REQUESTER_OF_BENCH = aWatchedRun().requester;

/** Returns the click that an approver makes on the current version of the run's first card. */
export function clickOn(run: Run, nth = 0): { approval: ApprovalId; click: Click } {
  const id = run.approvals[nth]?.id;
  const approval = id === undefined ? null : findApproval(run, id);
  const post = approval === null ? undefined : run.posts[cardSlot(approval.id)];
  if (approval === null || post?.type !== "up") throw new Error("the run has no posted card");
  const { team, channel } = run;
  return {
    approval: approval.id,
    click: { team, user: APPROVER, channel, ts: post.ts, nonce: approval.nonce },
  };
}
