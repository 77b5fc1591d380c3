// The proxies that the environment names. Their variables have the conventional names, which may also be in lower case.

import { BlockList, isIP } from "node:net";
import { z } from "zod";

export type Proxies = {
  /** URLs, which may contain a user name and password. */
  readonly http: string | null;
  readonly https: string | null;
  /** The hosts that are called directly, in undici's format, and ranges of addresses (`isInRange`). */
  readonly except: string;
};

export const PROXY_VARIABLES: readonly string[] = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"];

/** Like curl, assumes http if there is no protocol. */
export const proxy = () => z.string().transform(proxyUrl);

/** Names, addresses, ports and ranges of addresses, separated by commas or spaces. */
export const proxyExceptions = () =>
  z
    .string()
    .regex(/^[A-Za-z0-9.:_*[\],\s/-]+$/, "is not a list of hosts separated by commas")
    .refine((except) => rangesIn(except).every((range) => blockListOf([range]) !== null), NO_RANGE);

const NO_RANGE = "has a / that is not part of a range of addresses: write a range as 10.0.0.0/8 or fd00::/8";

const rangesIn = (except: string): string[] => except.split(/[,\s]+/).filter((entry) => entry.includes("/"));

/** Returns null if one of the ranges is not valid. */
function blockListOf(ranges: readonly string[]): BlockList | null {
  const list = new BlockList();
  for (const range of ranges) {
    const [, address = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(range) ?? [];
    const version = isIP(address);
    if (version === 0 || Number(bits) > (version === 4 ? 32 : 128)) return null;
    list.addSubnet(address, Number(bits), `ipv${version === 4 ? 4 : 6}`);
  }
  return list;
}

/** Tests whether a URL's host is an address in one of the ranges of NO_PROXY. Like curl and Go, looks up no names; undici takes no ranges. */
export function isInRange(hostname: string, except: string): boolean {
  const address = hostname.replace(/^\[(.+)\]$/, "$1");
  const version = isIP(address);
  return (
    version !== 0 && blockListOf(rangesIn(except))?.check(address, `ipv${version === 4 ? 4 : 6}`) === true
  );
}

function proxyUrl(value: string, issues: z.RefinementCtx): string {
  const parsed = URL.parse(/^[a-z0-9+.-]+:\/\//i.test(value) ? value : `http://${value}`);
  const isProxy =
    parsed !== null &&
    !hasDropped(value) &&
    /^https?:$/.test(parsed.protocol) &&
    /^\/?$/.test(parsed.pathname + parsed.search + parsed.hash);
  if (isProxy && isDecodable(`${parsed.username}:${parsed.password}`)) return parsed.href;
  issues.addIssue(
    isProxy
      ? "has a % in its user or password that begins no encoded character: write it as %25"
      : "is not the address of a proxy, which is http:// or https://, a host and a port",
  );
  return z.NEVER;
}

/** Tests for tabs and newlines. The parser drops them, so a password would become another one. */
export const hasDropped = (address: string): boolean => /[\t\n\r]/.test(address);

/** Returns whether each % begins an encoded character, and all of them are UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

export function proxiesOf(env: {
  readonly HTTPS_PROXY?: string | undefined;
  readonly HTTP_PROXY?: string | undefined;
  readonly NO_PROXY?: string | undefined;
}): Proxies | null {
  const { HTTPS_PROXY: https = null, HTTP_PROXY: http = null, NO_PROXY: except = "" } = env;
  return https === null && http === null ? null : { https, http, except };
}

/** Returns the passwords of the proxies, both encoded as in the URL and decoded. */
export const proxyPasswords = (proxies: Proxies | null): string[] =>
  [proxies?.http, proxies?.https].flatMap((address) => passwordsIn(address ?? ""));

/** Returns the URL's password, both encoded as in the URL and decoded. Returns an empty list if it has none. */
export function passwordsIn(url: string): string[] {
  const password = URL.parse(url)?.password ?? "";
  return password === "" ? [] : [password, decodeURIComponent(password)];
}
