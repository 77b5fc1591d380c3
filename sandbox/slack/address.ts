// Where a request comes to and who sends it. Loopback keeps nobody out: any web page can reach it through its visitor's browser.

import type { IncomingMessage } from "node:http";

const loopback = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** A foreign name in Host that resolves to this machine (DNS rebinding) would make the answers part of that site. */
export const isOurs = ({ headers }: IncomingMessage): boolean =>
  loopback.has((headers.host ?? "").replace(/:\d+$/, ""));

/** Browsers name the page that asks; apps name none. */
export const fromElsewhere = ({ headers: { origin, host } }: IncomingMessage): boolean =>
  origin !== undefined && origin !== `http://${host ?? ""}`;

/** Null for what is no address, such as "//". */
export const addressOf = ({ url = "/" }: IncomingMessage): URL | null =>
  URL.canParse(url, "http://sandbox") ? new URL(url, "http://sandbox") : null;
