// Which lines of the traffic are envelopes on the wire, where they go, and which are lost.
import { beforeEach, expect, test } from "vitest";
import { createEnvelopes } from "#sandbox/page/base/envelopes.ts";
import { createTraffic } from "#sandbox/slack/traffic.ts";

let traffic: ReturnType<typeof createTraffic>;
let look: () => ReturnType<ReturnType<typeof createEnvelopes>>;
beforeEach(() => {
  traffic = createTraffic({ now: () => 0, secrets: [] });
  traffic.add("service", "GET /before → 200", {});
  const seen = createEnvelopes();
  look = () => seen(traffic.lines());
  look();
});

const payload = { payload: { kind: "slash_commands" } };
const shown = () => look().newest.map(({ way, what, lost }) => `${way} ${what}${lost ? ", lost" : ""}`);

test("calls and payloads are envelopes, but earlier lines, acknowledgments, sockets and acts of people are not", () => {
  traffic.add("person", "Ana types", {});
  const event = traffic.add("slack", "slash_commands", payload);
  traffic.add("app", "acknowledges slash_commands", {}, null, { answers: event, ms: 3 });
  traffic.add("app", "acknowledgement of /agent", {}, "invalid_blocks");
  traffic.add("app", "socket connected", {});
  traffic.add("slack", "disconnect: warning", null);
  traffic.add("slack", "answers Ana", {}, "no such command", { answers: 2 });
  traffic.add("app", "chat.postMessage", {}, null, { ms: 4 });
  traffic.add("app", "response_url", {});
  traffic.add("service", "gateway GET /healthz → 200", {}, null, { ms: 1 });
  expect(shown()).toEqual([
    "slack-app slash_commands",
    "app-slack chat.postMessage",
    "app-slack response_url",
    "app-service gateway GET /healthz → 200",
  ]);
  expect(look()).toMatchObject({
    counts: { "app-slack": 2, "slack-app": 1, "app-service": 1 },
    lost: 0,
    lastLost: null,
    more: 0,
  });
});

test("an envelope without an acknowledgment is one lost dot, however late that becomes known", () => {
  const at = traffic.add("slack", "slash_commands", payload);
  traffic.add("slack", "no acknowledgement of slash_commands", {}, "unreachable", {
    answers: at,
    lost: true,
  });
  expect(shown()).toEqual(["slack-app no acknowledgement of slash_commands, lost"]);
  const later = traffic.add("slack", "events_api", payload);
  expect(shown().at(-1)).toBe("slack-app events_api");
  traffic.add("slack", "no acknowledgement of events_api", {}, "timeout", { answers: later, lost: true });
  expect(shown().at(-1)).toBe("slack-app no acknowledgement of events_api, lost");
  expect(shown()).toHaveLength(2);
  expect(look()).toMatchObject({ counts: { "slack-app": 2 }, lost: 2 });
});

test("a lost call is counted, and the last one is named", () => {
  traffic.add("app", "chat.update", {}, "ratelimited", { ms: 1, lost: true });
  traffic.add("app", "chat.update", {}, "message_not_found", { ms: 1 });
  traffic.add("service", "POST /runs → no answer", {}, "no answer came", { ms: 1, lost: true });
  expect(look()).toMatchObject({ lost: 2, lastLost: { what: "POST /runs → no answer" } });
});

test("the newest twenty of a burst are shown, and the others counted", () => {
  for (let i = 1; i <= 50; i += 1) traffic.add("app", `call ${i}`, {}, null, { ms: 1 });
  const seen = look();
  expect(seen.newest.map(({ what }) => what)).toEqual(Array.from({ length: 20 }, (_, i) => `call ${i + 31}`));
  expect(seen).toMatchObject({ more: 30, counts: { "app-slack": 50 } });
  traffic.add("app", "one more", {}, null, { ms: 1 });
  expect(look()).toMatchObject({ more: 0, counts: { "app-slack": 51 } });
  expect(look().newest).toHaveLength(20);
});

test("lines that the log has dropped meanwhile cause no error", () => {
  for (let i = 0; i < 2_500; i += 1) traffic.add("app", "call", {}, null, { ms: 1 });
  expect(look().counts["app-slack"]).toBe(2_000);
});
