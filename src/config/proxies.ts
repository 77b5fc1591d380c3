// The proxies that the environment names. Their variables have the conventional names, which may also be in lower case.

import { z } from "zod";

export type Proxies = {
  /** URLs, which may contain a user name and password. */
  readonly http: string | null;
  readonly https: string | null;
  /** The hosts that are called directly, in undici's format. */
  readonly except: string;
};

export const PROXY_VARIABLES: readonly string[] = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"];

/** Like curl, assumes http if there is no protocol. */
export const proxy = () => z.string().transform(proxyUrl);

/** Names, addresses and ports, separated by commas or spaces. undici takes no ranges. */
export const proxyExceptions = () =>
  z.string().regex(/^[A-Za-z0-9.:_*[\],\s-]+$/, {
    error: ({ input }) =>
      /\/\d/.test(String(input)) ? NO_RANGES : "is not a list of hosts separated by commas",
  });

const NO_RANGES =
  "has a range of addresses such as 10.0.0.0/8, which has no effect here: name the hosts or their domain";

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
