// The agent service over HTTP. This client never retries, and it sends the key only to `/v1/agent/`.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Agent, Dispatcher } from "undici";
import type { RunId } from "../../domain/ids.ts";
import { err, type Result } from "../../domain/result.ts";
import type { Snapshot } from "../../domain/snapshot.ts";
import { type AgentService, type FetchedRun, PortError } from "../../ports.ts";
import { fitsAddress } from "./pending-approvals.ts";
import { readDecisionAnswer, saysLater, certainlyNotApplied } from "./decision-answer.ts";
import type { SentDecision } from "./decision-record.ts";
import { askHealth, HEALTH_TIMEOUT_MS, MAX_HEALTH_BYTES } from "./health-endpoints.ts";
import {
  type Answer,
  answerInWords,
  createHttpClient,
  type HttpClient,
  retryAfterMs,
} from "./http-client.ts";
import { readCreated, readRun } from "./run-record.ts";

export type AgentServiceOptions = {
  readonly baseUrl: string;
  /** Called for each request, because the key can change while the program runs. */
  readonly apiKey: () => string;
  /** The service's word for deny. */
  readonly denyWord: string;
  /** Wall time, for a `Retry-After` that names a date. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** The time limit of one call (ms), from connecting to the last byte of the answer. */
  readonly timeoutMs?: number;
  /** How many polls can be under way at once. */
  readonly connections?: number;
  readonly maxBodyBytes?: number;
  /** Opens the connections, through a proxy if there is one. The default is direct connections. */
  readonly open?: (options: Agent.Options) => Dispatcher;
  /** Replaces our own connections. */
  readonly dispatcher?: Dispatcher;
};

const WHO = "The agent service";
const MiB = 1024 * 1024;
const LONG_CHARS = 65_536;
/** The maximum number of concurrent POSTs (runs started and decisions sent). */
const POST_CONNECTIONS = 32;

type Client = {
  readonly options: AgentServiceOptions;
  readonly timeoutMs: number;
  readonly polls: HttpClient;
  /**
   * Uses one connection per call. If the service closed a kept connection just as we used it, we could not tell whether it took the POST.
   * Also, no POST waits behind the polls.
   */
  readonly posts: HttpClient;
  readonly health: HttpClient;
};

export function createAgentService(options: AgentServiceOptions): AgentService & { close(): Promise<void> } {
  const { baseUrl, open, dispatcher, maxBodyBytes = 8 * MiB } = options;
  const line = { who: WHO, baseUrl, open, dispatcher, maxBodyBytes, keepAlive: false };
  const client: Client = {
    options,
    timeoutMs: options.timeoutMs ?? 10_000,
    polls: createHttpClient({ ...line, keepAlive: true, connections: options.connections ?? 128 }),
    posts: createHttpClient({ ...line, connections: POST_CONNECTIONS }),
    health: createHttpClient({ ...line, connections: 1, maxBodyBytes: MAX_HEALTH_BYTES }),
  };
  return {
    create: (input, key) => create(client, input, key),
    fetchRun: (id, timeoutMs) => fetchRun(client, id, timeoutMs),
    sendDecision: (run, approval, decision) =>
      resolve(client, { asked: null, ...decision, run, approval, denyWord: options.denyWord }),
    health: () =>
      askHealth(client.health, {
        who: WHO,
        path: "/v1/health",
        timeoutMs: HEALTH_TIMEOUT_MS,
        monotonic: options.monotonic,
      }),
    async close() {
      await Promise.all([client.polls.close(), client.posts.close(), client.health.close()]);
    },
  };
}

async function fetchRun(client: Client, id: RunId, timeoutMs = client.timeoutMs): Promise<FetchedRun> {
  if (!fitsAddress(id)) throw unaddressable();
  const { options } = client;
  const askedAt = options.monotonic();
  const answer = await client.polls.call({
    method: "GET",
    path: runPath(id),
    headers: { authorization: bearer(options) },
    timeoutMs: Math.min(timeoutMs, client.timeoutMs),
  });
  if (answer.status === 404) return { type: "missing", askedAt };
  if (!isSuccess(answer)) throw lookRefused(answer, options);
  await yieldToEventLoopIfLong(answer.body);
  const read = readSafely(() => readRun(answer, id, { askedAt, now: options.now() }));
  await yieldToEventLoopIfLong(answer.body);
  if (read.ok) return { type: "snapshot", snapshot: read.value };
  throw new PortError(`${WHO} sent an answer that cannot be used: ${read.error}.`, {
    applied: "no",
    retry: "later",
    code: "garbled",
  });
}

/** If reading itself fails, the answer counts as unreadable, because people are told of that. Any other error would only be in the log. */
function readSafely(read: () => Result<Snapshot, string>): Result<Snapshot, string> {
  try {
    return read();
  } catch (error) {
    // The error's message may quote the answer.
    return err(`reading it failed (${error instanceof Error ? error.name : "unknown fault"})`);
  }
}

const bearer = ({ apiKey }: AgentServiceOptions): string => `Bearer ${apiKey()}`;

/** Lets the event loop run before and after reading a long answer. */
async function yieldToEventLoopIfLong({ length }: string): Promise<void> {
  if (length > LONG_CHARS) await yieldToEventLoop();
}

function lookRefused(answer: Answer, { apiKey, now }: AgentServiceOptions): PortError {
  const { status } = answer;
  // A new key may change either answer.
  const isForbidden = status === 401 || status === 403;
  const never = certainlyNotApplied(status) && !saysLater(status) && !isForbidden;
  return new PortError(answerInWords(WHO, answer, apiKey()), {
    applied: "no",
    retry: never ? "never" : "later",
    code: `http_${status}`,
    quotes: true,
    retryAfterMs: retryAfterMs(answer.retryAfter, now()),
  });
}

async function create(client: Client, input: string, key: string): Promise<Snapshot> {
  const { options } = client;
  const askedAt = options.monotonic();
  const answer = await client.posts.call({
    method: "POST",
    path: RUNS_PATH,
    // A quoted RFC 8941 string, as the draft of the Idempotency-Key header requires.
    headers: {
      authorization: bearer(options),
      "content-type": "application/json",
      "idempotency-key": `"${key}"`,
    },
    body: JSON.stringify({ input }),
    timeoutMs: client.timeoutMs,
  });
  if (!isSuccess(answer)) throw createRefused(answer, options);
  const read = readSafely(() => readCreated(answer, { askedAt, now: options.now() }));
  if (read.ok) return read.value;
  throw new PortError(`${WHO} took the task, but its answer cannot be used: ${read.error}.`, {
    applied: "maybe",
    retry: "never",
    code: "garbled",
  });
}

function createRefused(answer: Answer, { apiKey, now }: AgentServiceOptions): PortError {
  const { status } = answer;
  return new PortError(answerInWords(WHO, answer, apiKey()), {
    applied: certainlyNotApplied(status) ? "no" : "maybe",
    retry: saysLater(status) ? "later" : "never",
    code: `http_${status}`,
    quotes: true,
    retryAfterMs: retryAfterMs(answer.retryAfter, now()),
  });
}

async function resolve(client: Client, sent: SentDecision): ReturnType<AgentService["sendDecision"]> {
  if (!fitsAddress(sent.run) || !fitsAddress(sent.approval))
    return { type: "refused", words: unaddressable().message };
  const { options } = client;
  const decision = sent.verdict === "approve" ? "approve" : sent.denyWord;
  try {
    const answer = await client.posts.call({
      method: "POST",
      path: approvalPath(sent.run, sent.approval),
      headers: { authorization: bearer(options), "content-type": "application/json" },
      body: JSON.stringify({ decision, reason: sent.reason }),
      timeoutMs: client.timeoutMs,
    });
    return readDecisionAnswer(answer, sent, { who: WHO, apiKey: options.apiKey(), now: options.now });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return error.applied === "no"
      ? { type: "later", afterMs: error.retryAfterMs, why: error.publicMessage, code: error.code }
      : { type: "unsure", why: error.publicMessage, code: error.code };
  }
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

function unaddressable(): PortError {
  return new PortError(
    "This id cannot be part of an address, so the agent service cannot be asked about it.",
    {
      applied: "no",
      retry: "never",
      code: "bad_id",
    },
  );
}

const RUNS_PATH = "/v1/agent/runs";

function runPath(run: string): string {
  return `${RUNS_PATH}/${encodeURIComponent(run)}`;
}

function approvalPath(run: string, approval: string): string {
  return `${runPath(run)}/approvals/${encodeURIComponent(approval)}`;
}
