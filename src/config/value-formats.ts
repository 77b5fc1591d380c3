// The formats of the environment's values. No message repeats a value, because it may be a secret.

import { createPrivateKey, type KeyObject } from "node:crypto";
import { z } from "zod";
import { hasDropped, isDecodable } from "./proxies.ts";

export const text = () => z.string("is not set");

export const token = (prefix: string) =>
  text().regex(new RegExp(`^${prefix}[\\x21-\\x7e]+$`), `is not a token that starts with ${prefix}`);

export const milliseconds = () =>
  text()
    .regex(/^\d{1,7}$/, "is not a whole number of milliseconds")
    .transform(Number)
    .refine((ms) => ms >= 10 && ms <= 3_600_000, "is not between 10 ms and one hour (3600000)");

export const days = () =>
  text()
    .regex(/^\d{1,4}$/, "is not a whole number of days")
    .transform(Number)
    .refine((count) => count >= 1 && count <= 3_650, "is not between 1 and 3650 days");

export const url = () => text().transform(baseUrl);

/** The URL of a page for people, with exactly one `{run}`. Plain HTTP is allowed only for this machine. */
export const runUrl = () => text().transform(runPage);

export const deploymentName = () =>
  text().refine(
    isDeploymentName,
    "is not 1 to 20 letters, digits, spaces, . _ and -, after an emoji and a space if you like",
  );

/** A function, because V8 takes 15 ms to compile all emoji, and most installations have no name. */
function isDeploymentName(name: string): boolean {
  return /^(?:\p{RGI_Emoji} )?[\p{L}\p{N}](?:[\p{L}\p{N} ._\-]{0,18}[\p{L}\p{N}])?$/v.test(name);
}

/** Host names or addresses, separated by commas. */
export const hosts = () =>
  text().regex(
    /^[A-Za-z0-9.:_[\]-]+( *, *[A-Za-z0-9.:_[\]-]+)*$/,
    "is not a list of hosts separated by commas",
  );

/** Returns whether others could read a key on its way: over `http://` to another machine. `allowed`: hosts for which this is accepted. */
export function isOpenToOthers(address: string, allowed: string): boolean {
  const parsed = URL.parse(address);
  if (parsed?.protocol !== "http:") return false;
  const { hostname } = parsed;
  if (isLoopback(hostname)) return false;
  const named = allowed.split(",").map((each) => URL.parse(`http://${each.trim()}`)?.hostname);
  return !named.includes(hostname);
}

export const isLoopback = (hostname: string): boolean =>
  /^(.+\.)?localhost\.?$/.test(hostname) ||
  hostname === "[::1]" ||
  hostname === "::1" ||
  /^127(\.\d+){3}$/.test(hostname);

export const auditSink = () => text().transform(sinkPlace);

export const database = () => text().transform(databasePlace);

/** An Ed25519 key, as PEM (newlines may be written as \n) or as its 32-byte seed in base64. Becomes the seed. */
export const auditKey = () => text().transform(seedOf);

/** Slack's ids of people, separated by commas. */
export const people = () => text().transform(ids);

/** Slack's ids of people and user groups, separated by commas. */
export const peopleAndGroups = () => text().transform(principals);

export const channel = () =>
  text().regex(
    /^[CG][A-Z0-9]{1,30}$/,
    "is not a channel id, which is a C or G followed by capital letters or digits",
  );

/** Returns the URL without trailing slashes. Keeps a path prefix. */
function baseUrl(value: string, issues: z.RefinementCtx): string {
  const more = /[?#]/.test(value) ? "has a ? or # part, which the address of a service must not have" : null;
  const wrong = faultInAddress(value) ?? more;
  return wrong === null ? new URL(value).href.replace(/\/+$/, "") : refuse(issues, wrong);
}

function faultInAddress(value: string): string | null {
  const parsed = URL.parse(value);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    return "is not an address that starts with http:// or https://";
  return parsed.username !== "" || parsed.password !== "" ? "holds a user name or password" : null;
}

function runPage(value: string, issues: z.RefinementCtx): string {
  const [before = "", ...after] = value.split("{run}");
  if (after.length !== 1) return refuse(issues, "does not hold {run} exactly once");
  const parsed = URL.parse(`${before}run${after[0] ?? ""}`);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || !/^https?:\/\/[^/?#]+[/?#]/.test(before))
    return refuse(issues, "is not an address that starts with https://, has a host, and then {run}");
  if (isOpenToOthers(value, "")) return refuse(issues, "is http:// to another machine: use https://");
  if (parsed.username !== "" || parsed.password !== "")
    return refuse(issues, "holds a user name or password");
  if (/[\s<>|"`\\^{}]/.test(before + (after[0] ?? "")))
    return refuse(issues, 'has spaces or one of < > | " ` \\ ^ { }, which an address must not have');
  return value;
}

/** Where the audit's entries are sent. */
export type SinkPlace =
  | { readonly type: "stdout" }
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "http"; readonly url: string };

function sinkPlace(value: string, issues: z.RefinementCtx): SinkPlace {
  if (value === "stdout") return { type: "stdout" };
  const path = /^file:(?!\/\/)(.+)$/.exec(value)?.[1];
  if (path !== undefined) return { type: "file", path };
  if (!/^https?:/.test(value)) return refuse(issues, "is none of stdout, file:PATH and an https:// address");
  const wrong = faultInAddress(value) ?? (value.includes("#") ? "has a # part, which is never sent" : null);
  // Kept as it is: some collectors insist on a slash at the end, or on a query.
  return wrong === null ? { type: "http", url: new URL(value).href } : refuse(issues, wrong);
}

/** Where the database is. */
export type DatabasePlace =
  | { readonly engine: "sqlite"; readonly path: string }
  | { readonly engine: "postgres"; readonly url: string };

const IN_MEMORY =
  "is a database in memory, which would lose every decision when the process ends: name a file";

function databasePlace(value: string, issues: z.RefinementCtx): DatabasePlace {
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(value)?.[1];
  if (path === ":memory:") return refuse(issues, IN_MEMORY);
  if (path !== undefined) return { engine: "sqlite", path };
  if (!/^postgres(ql)?:\/\//.test(value))
    return refuse(issues, "is neither of the form sqlite:PATH nor postgres://USER:PASSWORD@HOST/NAME");
  const url = hasDropped(value) ? null : URL.parse(value.replace(USER_WITHOUT_HOST, "$1localhost"));
  if (url === null || url.hash !== "" || !isDecodable(url.href))
    return refuse(
      issues,
      "is not an address: write the special characters of the password as %40 for @, %2F for / and so on",
    );
  const lacksHost = USER_WITHOUT_HOST.test(value) && !url.searchParams.has("host");
  const wrong = lacksHost ? NO_HOST : faultInServer(url);
  return wrong === null ? { engine: "postgres", url: url.href } : refuse(issues, wrong);
}

/** libpq's form for a Unix socket, `postgres://USER@/NAME?host=FOLDER`. A URL may have no user without a host. */
const USER_WITHOUT_HOST = /^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/[^/@?#]*(?:\?|$))/;
const NO_HOST = "names no host";

/** The allowed parameters. Others could contain a password, or weaken what this program relies on. */
const SERVER_PARAMETERS = ["sslmode", "sslrootcert", "sslcert", "sslkey", "host", "options"];

function faultInServer(url: URL): string | null {
  if (!/^\/[^/@:]+$/.test(url.pathname)) return "does not end in the name of a database";
  const host = serverHost(url);
  if (host === "") return NO_HOST;
  if (host.includes(",")) return "names several hosts; put a proxy or one name before them";
  const names = [...url.searchParams.keys()];
  if (names.some((name) => !SERVER_PARAMETERS.includes(name)))
    return `has a parameter other than ${SERVER_PARAMETERS.join(", ")}`;
  if (new Set(names).size < names.length) return "has a parameter twice";
  const mode = url.searchParams.get("sslmode");
  if (mode === null && !host.startsWith("/") && !isLoopback(host))
    return "does not say how the connection is protected: add sslmode=verify-full, or sslmode=disable on a private network";
  if (mode !== null && mode !== "verify-full" && mode !== "disable")
    return "has an sslmode other than verify-full and disable; the others do not check whose server answers";
  return null;
}

/** Returns the host that the connection leads to. A `host` parameter replaces the host of the address, as in adapters/store/postgres.ts. */
const serverHost = ({ hostname, searchParams }: URL): string =>
  searchParams.get("host") ?? decodeURIComponent(hostname).replace(/^\[(.+)\]$/, "$1");

const SEED_BYTES = 32;

function seedOf(value: string, issues: z.RefinementCtx): string {
  const wrong = "is neither an Ed25519 private key in PEM nor 32 bytes in base64";
  if (!value.startsWith("-----BEGIN")) {
    const bytes = Buffer.from(value, "base64");
    const whole = bytes.length === SEED_BYTES && bytes.toString("base64") === value;
    return whole ? value : refuse(issues, wrong);
  }
  const key = privateKey(value.replaceAll("\\n", "\n"));
  if (key?.asymmetricKeyType !== "ed25519") return refuse(issues, wrong);
  return Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url").toString("base64");
}

function privateKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

function ids(value: string, issues: z.RefinementCtx): readonly string[] {
  const all = value.split(",").map((each) => each.trim());
  const good = all.every((each) => /^[UW][A-Z0-9]{1,30}$/.test(each));
  return good
    ? [...new Set(all)]
    : refuse(issues, "is not a list of member ids (U… or W…) separated by commas");
}

function principals(value: string, issues: z.RefinementCtx) {
  const all = [...new Set(value.split(",").map((each) => each.trim()))];
  if (!all.every((each) => /^[UWS][A-Z0-9]{1,30}$/.test(each)))
    return refuse(
      issues,
      "is not a list of ids of people (U… or W…) and user groups (S…) separated by commas",
    );
  return {
    users: all.filter((each) => !each.startsWith("S")),
    groups: all.filter((each) => each.startsWith("S")),
  };
}

function refuse(issues: z.RefinementCtx, message: string): never {
  issues.addIssue({ code: "custom", message });
  return z.NEVER;
}
