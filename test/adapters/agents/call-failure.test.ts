// What people read of a failed call. Only ADMINS may learn host names and addresses.

import { describe, expect, test } from "vitest";
import { failureOf } from "#src/adapters/agents/call-failure.ts";

const HOST = "agents.prod.internal";
const CALL = { method: "GET", timeoutMs: 10_000, timedOut: false, isQueued: false } as const;
const CODES = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_CLOSED",
  "UND_ERR_DESTROYED",
  "UND_ERR_INVALID_ARG",
  "UND_ERR_ABORTED",
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_OVERFLOW",
  "HPE_INVALID_CONSTANT",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EMFILE",
  "EPROTO",
  "CERT_HAS_EXPIRED",
  "another fault",
];

/** The failures of a call that fails with this error, however far it came. */
function failures(protocol: string, error: unknown) {
  const base = new URL(`${protocol}//${HOST}:8443`);
  const explain = failureOf({ who: "The agent service", base, maxBodyBytes: 1_024 });
  const came = [null, "service", "proxy"] as const;
  return came.flatMap((notConnected) => [
    explain(error, { ...CALL, notConnected }),
    explain(error, { ...CALL, notConnected, timedOut: true, isQueued: notConnected === null }),
  ]);
}

describe.each(["http:", "https:"])("over %s, the words for everyone", (protocol) => {
  test.each(CODES)("do not name the host after %s", (code) => {
    const error = Object.assign(new Error(`connect to ${HOST}:8443 failed: 503`), { code });
    for (const { publicMessage } of failures(protocol, error)) {
      expect(publicMessage).not.toMatch(/prod|internal|8443/);
      expect(publicMessage).toMatch(/^The agent service .+\.$/);
    }
  });

  test("do not name the host after something that is no error", () => {
    for (const { publicMessage } of failures(protocol, HOST)) expect(publicMessage).not.toContain(HOST);
  });
});

test("admins read at which host the proxy failed, and with which answer", () => {
  const [, , , , failed] = failures(
    "https:",
    Object.assign(new Error("status 503"), { code: "UND_ERR_ABORTED" }),
  );
  expect(failed).toMatchObject({
    code: "proxy",
    message: `The agent service cannot be reached: the proxy made no connection to ${HOST}:8443 (it answered HTTP 503).`,
    publicMessage:
      "The agent service cannot be reached: the proxy made no connection to it (it answered HTTP 503).",
  });
});
