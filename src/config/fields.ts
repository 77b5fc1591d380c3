// The formats of the environment's values. No message repeats a value, which may be a secret.

import { createPrivateKey, type KeyObject } from "node:crypto";
import { z } from "zod";

export const text = () => z.string("is not set");

export const token = (prefix: string) =>
  text().regex(new RegExp(`^${prefix}[\\x21-\\x7e]+$`), `is not a token that starts with ${prefix}`);

export const milliseconds = () =>
  text()
    .regex(/^\d{1,7}$/, "is not a whole number of milliseconds")
    .transform(Number)
    .refine((ms) => ms >= 10 && ms <= 3_600_000, "is not between 10 ms and one hour (3600000)");

export const url = () => text().transform(baseUrl);

/** Names or addresses of machines, separated by commas. */
export const hosts = () =>
  text().regex(
    /^[A-Za-z0-9.:_[\]-]+( *, *[A-Za-z0-9.:_[\]-]+)*$/,
    "is not a list of hosts separated by commas",
  );

/** Over `http://` to another machine a key could be read on its way. `allowed` names the hosts for which that is accepted. */
export function isOpenToOthers(address: string, allowed: string): boolean {
  const parsed = URL.parse(address);
  if (parsed?.protocol !== "http:") return false;
  const { hostname } = parsed;
  const here = hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]";
  if (here || /^127(\.\d+){3}$/.test(hostname)) return false;
  const named = allowed.split(",").map((each) => URL.parse(`http://${each.trim()}`)?.hostname);
  return !named.includes(hostname);
}

export const database = () => text().transform(databasePath);

/** An Ed25519 key as PEM (newlines may be written as \n) or as its seed of 32 bytes in base64. The result is the seed. */
export const auditKey = () => text().transform(seedOf);

/** Slack's ids of people, separated by commas. */
export const people = () => text().transform(ids);

export const channel = () =>
  text().regex(/^[CG][A-Z0-9]{1,30}$/, "is not the id of a channel, which is C or G and capitals and digits");

/** The URL without slashes at its end. A path prefix is kept. */
function baseUrl(value: string, issues: z.RefinementCtx): string {
  const parsed = URL.parse(value);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    return refuse(issues, "is not an address that starts with http:// or https://");
  if (parsed.username !== "" || parsed.password !== "")
    return refuse(issues, "holds a user name or password");
  if (/[?#]/.test(value)) return refuse(issues, "has a ? or # part, which the address of a service has not");
  return parsed.href.replace(/\/+$/, "");
}

function databasePath(value: string, issues: z.RefinementCtx): string {
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(value)?.[1];
  if (path !== undefined) return path;
  const postgres = /^postgres(ql)?:/.test(value);
  return refuse(
    issues,
    postgres ? "names PostgreSQL, which is not built yet" : "is not of the form sqlite:PATH",
  );
}

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

function refuse(issues: z.RefinementCtx, message: string): never {
  issues.addIssue({ code: "custom", message });
  return z.NEVER;
}
