// A world that a test controls like a script: only over HTTP.

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWorld, type World, type WorldOptions } from "#sandbox/world/world.ts";

export type Answered = { readonly status: number; readonly body: Record<string, unknown> };

export type Control = {
  /** Resolves to the result of the act. Rejects with its error if it fails. */
  readonly act: (name: string, args?: Record<string, unknown>) => Promise<unknown>;
  /** Resolves to the reason why an act is refused. Rejects if it succeeds. */
  readonly refusal: (name: string, args?: Record<string, unknown>) => Promise<string>;
  /** Resolves to the items of a list. */
  readonly read: (path: string, query?: Record<string, string>) => Promise<Record<string, unknown>[]>;
  readonly send: (path: string, init?: RequestInit) => Promise<Answered>;
};

export const HEADERS = { "x-sandbox-control": "1" };

export function controlOf(url: string): Control {
  const send = async (path: string, init?: RequestInit): Promise<Answered> => {
    const response = await fetch(new URL(path, url), init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const ask = (act: string, args: Record<string, unknown>): Promise<Answered> =>
    send("/control/do", { method: "POST", headers: HEADERS, body: JSON.stringify({ act, args }) });
  return {
    send,
    act: async (name, args = {}) => {
      const { status, body } = await ask(name, args);
      if (status !== 200 || body["ok"] !== true) throw new Error(`${status} ${String(body["error"])}`);
      return body["result"];
    },
    refusal: async (name, args = {}) => {
      const { status, body } = await ask(name, args);
      if (status === 200 || body["ok"] !== false) throw new Error(`${name} was done`);
      return `${status} ${String(body["error"])}`;
    },
    read: async (path, query = {}) => {
      const { status, body } = await send(`${path}?${new URLSearchParams(query).toString()}`);
      const [list] = Object.values(body);
      if (status !== 200 || !Array.isArray(list)) throw new Error(`${status} ${JSON.stringify(body)}`);
      return list as Record<string, unknown>[];
    },
  };
}

export type Controlled = Control & {
  readonly world: World;
  /** Calls a method of Slack's Web API in the app's name. */
  readonly call: (method: string, args: Record<string, unknown>) => Promise<Response>;
  /** Sends a request to the service, with the key that was valid at the start. */
  readonly ask: (path: string, body?: unknown) => Promise<Response>;
  readonly stop: () => Promise<void>;
};

/** Starts a world, without a bot unless one is requested. */
export async function startControlled(options: Partial<WorldOptions> = {}): Promise<Controlled> {
  const path = join(tmpdir(), `countersign-${randomBytes(8).toString("hex")}.db`);
  const databaseUrl = `sqlite:${path}`;
  const world = await startWorld({ databaseUrl, tempo: 0, paceMs: () => 0, ...options });
  const { apiKey } = world.service;
  const json = (token: string, body: unknown) => ({
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  return {
    ...controlOf(world.slack.url),
    world,
    call: (method, args) => fetch(`${world.slack.apiUrl}${method}`, json(world.slack.botToken, args)),
    ask: (path, body) => fetch(`${world.service.url}${path}`, json(apiKey, body)),
    stop: async () => {
      await world.stop();
      for (const ending of ["", "-wal", "-shm", ".audit-key"]) await rm(path + ending, { force: true });
    },
  };
}

/** Settings that make the bot quick, for tests. */
export const QUICK = { env: { LOG_LEVEL: "error", POLL_MIN_MS: "50", POLL_MAX_MS: "500" } };
