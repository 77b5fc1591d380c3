// The control API over HTTP: POST /control/do runs a named act, GET reads. Documented in docs/development/sandbox-control.md.

import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { parseJson, readBody } from "../base/read-body.ts";
import type { ControlAct, ControlRead, Looked } from "./control-api.ts";
import { forbidden, type Refusal } from "./control-check.ts";

/** The size limit of a request body (bytes). */
const BODY_LIMIT = 1_000_000;
const LONGEST_WAIT_SECONDS = 60;
/** The most items that a list returns. */
const MAX_ITEMS = 2_000;

/** Answers the request and returns true if it is for the control API. Otherwise returns false. */
export type ControlHandler = (req: IncomingMessage, res: ServerResponse) => boolean;

export type ControlParts = {
  readonly acts: readonly ControlAct[];
  readonly reads: readonly ControlRead[];
  /** Calls the listener after every change that a read can show. */
  readonly onChange: (listener: () => void) => () => void;
};

class RequestError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor({ status, error }: Refusal, headers: Readonly<Record<string, string>> = {}) {
    super(error);
    this.status = status;
    this.headers = headers;
  }
}

export function createControlHandler(parts: ControlParts): ControlHandler {
  const acts = new Map(parts.acts.map((act) => [act.name, act]));
  const reads = new Map(parts.reads.map((read) => [read.path, read]));
  const route = (req: IncomingMessage, res: ServerResponse, url: URL): Promise<Looked> | Looked => {
    const refusal = forbidden(req);
    if (refusal !== null)
      throw new RequestError(refusal, refusal.status === 405 ? { allow: "GET, POST" } : {});
    if (url.pathname === "/control/do") return perform(acts, req);
    if (req.method !== "GET")
      throw new RequestError(
        { status: 405, error: "This address is only for reading: use GET." },
        { allow: "GET" },
      );
    if (url.pathname === "/control") return listing(parts);
    const read = reads.get(url.pathname);
    if (read === undefined)
      throw new RequestError({
        status: 404,
        error: `There is nothing at ${url.pathname}. GET /control lists all addresses.`,
      });
    return look(read, url, { onChange: parts.onChange, res });
  };
  return (req, res) => {
    const url = new URL(req.url ?? "/", "http://sandbox");
    if (!/^\/control(?:\/|$)/.test(url.pathname)) return false;
    void (async () => route(req, res, url))().then(
      (body) => send(res, 200, body),
      (error: unknown) => sendError(res, error),
    );
    return true;
  };
}

const actRequest = z.strictObject({ act: z.string(), args: z.record(z.string(), z.unknown()).default({}) });

async function perform(acts: ReadonlyMap<string, ControlAct>, req: IncomingMessage): Promise<Looked> {
  if (req.method !== "POST")
    throw new RequestError({ status: 405, error: "Acts need POST." }, { allow: "POST" });
  const { act: name, args } = actRequest.parse(await bodyOf(req));
  const act = acts.get(name);
  if (act === undefined)
    throw new RequestError({
      status: 404,
      error: `There is no act "${name}". GET /control lists all acts.`,
    });
  return { ok: true, result: (await act.run(args)) ?? null };
}

async function bodyOf(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req, BODY_LIMIT);
  if (body === "too large")
    throw new RequestError({ status: 413, error: "The request is larger than 1 MB." });
  const value = parseJson(body.toString("utf8"));
  if (value === undefined)
    throw new RequestError({
      status: 400,
      error: 'The request is not JSON. It should look like {"act": "service.down", "args": {}}.',
    });
  return value;
}

const common = z.object({
  wait: z.coerce
    .number()
    .min(0)
    .max(LONGEST_WAIT_SECONDS)
    .default(0)
    .describe("how many seconds to wait for the first item; after that, the list is empty"),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_ITEMS)
    .default(200)
    .describe("how many of the newest items to return"),
});

type Asking = { readonly onChange: ControlParts["onChange"]; readonly res: ServerResponse };

async function look(read: ControlRead, { searchParams }: URL, asking: Asking): Promise<Looked> {
  const query = Object.fromEntries(searchParams);
  const { list } = read;
  if (list === null) return read.look(query);
  const { wait, limit, ...rest } = query;
  const shared = common.parse({ ...(wait !== undefined && { wait }), ...(limit !== undefined && { limit }) });
  const newest = (): { answer: Looked; empty: boolean } => {
    const found = read.look(rest)[list] as readonly unknown[];
    return { answer: { [list]: found.slice(-shared.limit) }, empty: found.length === 0 };
  };
  const now = newest();
  return now.empty && shared.wait > 0 ? waitForItems(newest, shared.wait, asking) : now.answer;
}

function waitForItems(
  newest: () => { answer: Looked; empty: boolean },
  seconds: number,
  { onChange, res }: Asking,
): Promise<Looked> {
  const { promise, resolve, reject } = Promise.withResolvers<Looked>();
  const check = (isLast: boolean): void => {
    try {
      const { answer, empty } = newest();
      if (isLast || !empty) resolve(answer);
    } catch (error) {
      reject(error);
    }
  };
  const stop = onChange(() => check(false));
  const timer = setTimeout(() => check(true), seconds * 1_000);
  // Stop waiting when the client disconnects.
  const gone = (): void => check(true);
  res.once("close", gone);
  return promise.finally(() => {
    stop();
    clearTimeout(timer);
    res.off("close", gone);
  });
}

function listing({ acts, reads }: ControlParts): Looked {
  const schema = (object: z.ZodObject): unknown => z.toJSONSchema(object, { io: "input" });
  return {
    do: 'POST /control/do with the header "x-sandbox-control: 1" and {"act": …, "args": {…}}',
    acts: acts.map(({ name, what, args }) => ({ name, what, args: schema(args) })),
    reads: reads.map(({ path, what, query, list }) => ({
      path,
      what,
      query: schema(list === null ? query : query.extend(common.shape)),
    })),
  };
}

function sendError(res: ServerResponse, error: unknown): void {
  if (error instanceof RequestError)
    return send(res, error.status, { ok: false, error: error.message }, error.headers);
  if (error instanceof z.ZodError) return send(res, 400, { ok: false, ...faultsOf(error) });
  // Built-in subclasses such as TypeError are bugs of ours. A plain Error says, for people, why the act is impossible.
  const isBug = !(error instanceof Error) || Object.getPrototypeOf(error) !== Error.prototype;
  if (isBug) console.error("control:", error);
  const words = error instanceof Error ? error.message : String(error);
  send(res, isBug ? 500 : 409, { ok: false, error: isBug ? `The sandbox itself failed: ${words}` : words });
}

function faultsOf(error: z.ZodError): { error: string; faults: readonly { at: string; what: string }[] } {
  const faults = error.issues.map(({ path, message }) => ({ at: path.join("."), what: message }));
  const words = faults.map(({ at, what }) => (at === "" ? what : `${at}: ${what}`)).join("; ");
  return { error: `The request is invalid: ${words}`, faults };
}

const HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

function send(res: ServerResponse, status: number, body: Looked, headers: Record<string, string> = {}): void {
  if (res.destroyed) return;
  res.writeHead(status, { ...HEADERS, ...headers }).end(`${JSON.stringify(body, null, 2)}\n`);
}
