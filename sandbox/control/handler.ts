// The control API over HTTP: POST /control/do runs a named act, GET reads. Documented in docs/development/sandbox-control.md.

import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { parseJson, readBody } from "../base/read-body.ts";
import type { ControlAct, ControlRead, Looked } from "./control-api.ts";
import { forbidden, type Refusal } from "./control-check.ts";

/** The longest body of a request (bytes). */
const BODY_LIMIT = 1_000_000;
/** Seconds. */
const LONGEST_WAIT = 60;
const MOST = 2_000;

/** Returns whether the request is for the control API. If so, it answers it. */
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
    const no = forbidden(req);
    if (no !== null) throw new RequestError(no, no.status === 405 ? { allow: "GET, POST" } : {});
    if (url.pathname === "/control/do") return doOne(acts, req);
    if (req.method !== "GET")
      throw new RequestError({ status: 405, error: "This is only for looking: use GET." }, { allow: "GET" });
    if (url.pathname === "/control") return listing(parts);
    const read = reads.get(url.pathname);
    if (read === undefined)
      throw new RequestError({
        status: 404,
        error: `There is nothing at ${url.pathname}. GET /control lists what there is.`,
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

const asked = z.strictObject({ act: z.string(), args: z.record(z.string(), z.unknown()).default({}) });

async function doOne(acts: ReadonlyMap<string, ControlAct>, req: IncomingMessage): Promise<Looked> {
  if (req.method !== "POST")
    throw new RequestError({ status: 405, error: "An act is done with POST." }, { allow: "POST" });
  const { act: name, args } = asked.parse(await bodyOf(req));
  const act = acts.get(name);
  if (act === undefined)
    throw new RequestError({
      status: 404,
      error: `There is no act "${name}". GET /control lists those there are.`,
    });
  return { ok: true, result: (await act.run(args)) ?? null };
}

async function bodyOf(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req, BODY_LIMIT);
  if (body === "too large") throw new RequestError({ status: 413, error: "The request has more than 1 MB." });
  const value = parseJson(body.toString("utf8"));
  if (value === undefined)
    throw new RequestError({
      status: 400,
      error: 'The request is no JSON. It looks like {"act": "service.down", "args": {}}.',
    });
  return value;
}

const common = z.object({
  wait: z.coerce
    .number()
    .min(0)
    .max(LONGEST_WAIT)
    .default(0)
    .describe("answers as soon as there is something, or with nothing after so many seconds"),
  limit: z.coerce.number().int().min(1).max(MOST).default(200).describe("the newest so many"),
});

type Asking = { readonly onChange: ControlParts["onChange"]; readonly res: ServerResponse };

async function look(read: ControlRead, { searchParams }: URL, asking: Asking): Promise<Looked> {
  const given = Object.fromEntries(searchParams);
  const { list } = read;
  if (list === null) return read.look(given);
  const { wait, limit, ...rest } = given;
  const shared = common.parse({ ...(wait !== undefined && { wait }), ...(limit !== undefined && { limit }) });
  const newest = (): { answer: Looked; empty: boolean } => {
    const found = read.look(rest)[list] as readonly unknown[];
    return { answer: { [list]: found.slice(-shared.limit) }, empty: found.length === 0 };
  };
  const now = newest();
  return now.empty && shared.wait > 0 ? waited(newest, shared.wait, asking) : now.answer;
}

function waited(
  newest: () => { answer: Looked; empty: boolean },
  seconds: number,
  { onChange, res }: Asking,
): Promise<Looked> {
  const { promise, resolve, reject } = Promise.withResolvers<Looked>();
  const again = (end: boolean): void => {
    try {
      const { answer, empty } = newest();
      if (end || !empty) resolve(answer);
    } catch (error) {
      reject(error);
    }
  };
  const stop = onChange(() => again(false));
  const timer = setTimeout(() => again(true), seconds * 1_000);
  // Stop waiting when the client is gone.
  const gone = (): void => again(true);
  res.once("close", gone);
  return promise.finally(() => {
    stop();
    clearTimeout(timer);
    res.off("close", gone);
  });
}

function listing({ acts, reads }: ControlParts): Looked {
  const schema = (of: z.ZodObject): unknown => z.toJSONSchema(of, { io: "input" });
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
  // Errors of the language are our own faults. All others say in words for people why the world refuses.
  const ours = !(error instanceof Error) || Object.getPrototypeOf(error) !== Error.prototype;
  if (ours) console.error("control:", error);
  const words = error instanceof Error ? error.message : String(error);
  send(res, ours ? 500 : 409, { ok: false, error: ours ? `The sandbox itself failed: ${words}` : words });
}

function faultsOf(error: z.ZodError): { error: string; faults: readonly { at: string; what: string }[] } {
  const faults = error.issues.map(({ path, message }) => ({ at: path.join("."), what: message }));
  const words = faults.map(({ at, what }) => (at === "" ? what : `${at}: ${what}`)).join("; ");
  return { error: `This does not fit: ${words}`, faults };
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
