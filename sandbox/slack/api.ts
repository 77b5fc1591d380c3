// The Web API over HTTP. Checks the token, the scopes, the rate limit and the arguments, and applies injected faults.

import type { IncomingMessage, ServerResponse } from "node:http";
import { RateLimited, Refused, refusedWith } from "./errors.ts";
import { applyFault, replacesAnswer, sendAnswer } from "./faulty-answer.ts";
import type { Fault } from "./injected-faults.ts";
import { readFields } from "./http-request.ts";
import type { Call, Method } from "./method.ts";
import { methods } from "./methods.ts";
import type { Json } from "./json-object.ts";

/** The size limit of a request (bytes). It is enough for the largest message or view; files have their own address. */
const maxBody = 2_000_000;

type Answer = { readonly status: number; readonly body: Json; readonly headers?: Record<string, string> };

/** A request. `unreadable` is the error of an unreadable body, which is answered only after the token is checked. */
type ApiRequest = { readonly name: string; readonly fields: Json; readonly unreadable: Refused | null };

export const createApi = (call: Call) => ({
  handle: async (name: string, req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const began = performance.now();
    const request = await readRequest(name, req);
    const ms = (): number => Math.round(performance.now() - began);
    const { fields } = request;
    const fault = call.faults.take(name, fields);
    if (await applyFault(fault, "before", res))
      return void call.traffic.add("app", name, fields, "replaced by a fault", { ms: ms(), lost: true });
    const answer = faultAnswer(fault) ?? answerTo(request, req, call);
    const refused = answer.body["ok"] === true ? null : String(answer.body["error"]);
    const lost = answer.status === TOO_MANY || replacesAnswer(fault, "after");
    call.traffic.add("app", name, { args: fields, answer: answer.body }, refused, { ms: ms(), lost });
    // Answers carry Slack's time, which is that of the sandbox's clock.
    const date = new Date(call.now()).toUTCString();
    const headers = { "content-type": "application/json; charset=utf-8", date, ...answer.headers };
    await sendAnswer(fault, res, { status: answer.status, text: JSON.stringify(answer.body), headers });
  },
});

async function readRequest(name: string, req: IncomingMessage): Promise<ApiRequest> {
  if (req.method === "GET") return { name, fields: queryOf(req), unreadable: null };
  try {
    return { name, fields: await readFields(req, maxBody), unreadable: null };
  } catch (error) {
    if (error instanceof Refused) return { name, fields: {}, unreadable: error };
    throw error;
  }
}

const queryOf = (req: IncomingMessage): Json =>
  Object.fromEntries(new URL(req.url ?? "/", "http://sandbox").searchParams);

function faultAnswer(fault: Fault | undefined): Answer | null {
  if (fault && "error" in fault)
    return { status: 200, body: { ok: false, error: fault.error, ...fault.more } };
  if (fault && "retryAfter" in fault) return tooMany(fault.retryAfter);
  return null;
}

const TOO_MANY = 429;

const tooMany = (seconds: number): Answer => ({
  status: TOO_MANY,
  body: { ok: false, error: "ratelimited" },
  headers: { "retry-after": String(seconds) },
});

function answerTo({ name, fields, unreadable }: ApiRequest, req: IncomingMessage, call: Call): Answer {
  const headers: Record<string, string> = {};
  try {
    const method = known(name);
    const token = tokenOf(req, fields, call);
    const held = token === "app" ? appScopes : call.scopes;
    headers["x-oauth-scopes"] = [...held].join(",");
    headers["x-accepted-oauth-scopes"] = method.scopes.join(",");
    admit(method, token, held);
    call.limits.call(name, method.tier);
    if (method.token === "app" && req.method === "GET") throw new Refused("insecure_request");
    if (unreadable) throw unreadable;
    return { status: 200, body: { ok: true, ...method.run(fields, call, token) }, headers };
  } catch (error) {
    if (error instanceof RateLimited) return tooMany(error.retryAfterSeconds);
    if (!(error instanceof Refused)) throw error;
    return { status: 200, body: { ok: false, error: error.code, ...error.more }, headers };
  }
}

function known(name: string): Method {
  const method = methods.get(name);
  if (method) return method;
  const { code, more } = refusedWith("unknown_method", [`the sandbox does not imitate ${name}`]);
  throw new Refused(code, { ...more, req_method: name });
}

/** docs.slack.dev, changelog of 2021: Slack ignores a token in the query. */
function tokenOf(req: IncomingMessage, fields: Json, { secrets }: Call): "bot" | "app" {
  const inBody = req.method === "GET" ? undefined : fields["token"];
  const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? "")?.[1] ?? inBody;
  if (token === undefined) throw new Refused("not_authed");
  if (token === secrets.botToken) return "bot";
  if (token === secrets.appToken) return "app";
  throw new Refused("invalid_auth");
}

/** The app-level token always has this scope. The bot token has the scopes of the manifest. */
const appScopes: ReadonlySet<string> = new Set(["connections:write"]);

function admit(method: Method, token: "bot" | "app", held: ReadonlySet<string>): void {
  if (method.token !== "either" && method.token !== token) throw new Refused("not_allowed_token_type");
  if (method.scopes.length > 0 && !method.scopes.some((scope) => held.has(scope)))
    throw new Refused("missing_scope", { needed: method.scopes.join(","), provided: [...held].join(",") });
}
