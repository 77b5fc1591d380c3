import { Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { keepSecrets } from "#src/domain/text/own-secrets.ts";
import { createLog, slackLogger, type Log } from "#src/log.ts";

const API_KEY = 'canary"key\\é-77';
const SIGNING_SECRET = "canarysigningsecret0123456789abc";
const CANARIES = [
  "xoxb-1234-5678-canary",
  "xoxp-canary-1",
  "xoxe.xoxp-1-canaryrefresh",
  "xapp-1-A1-canary",
  "Bearer canary.token_1~+/=",
  API_KEY,
  SIGNING_SECRET,
];
const time: unknown = expect.stringMatching(/^\d{4}-.*Z$/);
const stack: unknown = expect.stringContaining("log.test.ts");
const LEVELS = ["debug", "info", "warn", "error"] as const;

function lines(
  act: (log: Log) => void,
  level = "debug",
  secrets: readonly string[] = [API_KEY, SIGNING_SECRET, ""],
): { text: string; entries: Record<string, unknown>[] } {
  let text = "";
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  act(createLog({ level, pretty: false, secrets, destination }));
  const entries = text.split("\n").filter((line) => line !== "");
  return { text, entries: entries.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

function expectNoCanary(text: string) {
  expect(text).not.toMatch(/canary/i);
}

describe("a log entry", () => {
  test("contains its level, time, message and fields, and nothing else", () => {
    const { entries } = lines((log) => log.warn({ run: "r1", count: 2, big: 3n }, "slow"));
    expect(entries).toEqual([
      {
        level: "warn",
        time,
        run: "r1",
        count: 2,
        big: "3",
        msg: "slow",
      },
    ]);
  });

  test("below the level is not written", () => {
    const { entries } = lines((log) => LEVELS.forEach((level) => log[level]({}, level)), "warn");
    expect(entries.map(({ msg }) => msg)).toEqual(["warn", "error"]);
  });

  test("of a child has the child's fields too", () => {
    const { entries } = lines((log) => log.child({ room: "store" }).child({ run: "r1" }).info({}, "saved"));
    expect(entries).toMatchObject([{ room: "store", run: "r1", msg: "saved" }]);
  });

  test("shows an error's name, message, code, stack and cause, and none of its other properties", () => {
    const cause = Object.assign(new Error("reset"), {
      code: "ECONNRESET",
      request: { headers: { x: "hidden" } },
    });
    const error = Object.assign(new TypeError("failed", { cause }), { data: "hidden", code: 7 });
    const { text, entries } = lines((log) => log.error({ error, all: [error] }, "failed"));
    const shown = {
      name: "TypeError",
      message: "failed",
      code: 7,
      stack,
      cause: { name: "Error", message: "reset", code: "ECONNRESET", stack },
    };
    expect(entries[0]).toMatchObject({ error: shown, all: [{ name: "TypeError" }] });
    expect(Object.keys(entries[0]?.["error"] as object).sort()).toEqual([
      "cause",
      "code",
      "message",
      "name",
      "stack",
    ]);
    expect(text).not.toContain("hidden");
  });

  test("handles circular and deep values", () => {
    const principals: Record<string, unknown> = { name: "c" };
    principals["self"] = principals;
    const error = new Error("e");
    error.cause = error;
    const { entries } = lines((log) => log.info({ principals, error }, "odd"));
    expect(entries).toMatchObject([{ msg: "odd", principals: { name: "c" } }]);
  });
});

describe("a secret", () => {
  test.each(LEVELS)("does not appear in entries of level %s, wherever it was passed", (level) => {
    const { text, entries } = lines((log) => {
      for (const canary of CANARIES) {
        const inner = Object.assign(new Error(`inner ${canary}`), {
          config: { headers: { authorization: canary } },
        });
        const error = new Error(`outer ${canary} and more`, { cause: inner });
        log[level](
          { plain: canary, nested: { list: [`a ${canary} b`] }, error, [canary]: 1 },
          `message ${canary}`,
        );
        log.child({ bound: canary })[level]({}, "child");
      }
    });
    expectNoCanary(text);
    expect(entries).toHaveLength(2 * CANARIES.length);
  });

  test("that is registered later does not appear in later entries", () => {
    const { entries } = lines((log) => {
      log.info({}, "the-next-key");
      keepSecrets(["the-next-key"]);
      log.info({ url: "https://x.example/?k=the-next-key" }, "the-next-key");
    });
    expect(entries.map(({ msg, url }) => [msg, url])).toEqual([
      ["the-next-key", undefined],
      ["[secret]", "https://x.example/?k=[secret]"],
    ]);
  });

  test("does not appear under the usual names of secrets, whatever its shape", () => {
    const names = [
      "authorization",
      "Authorization",
      "cookie",
      "password",
      "token",
      "botToken",
      "app_token",
      "apiKey",
      "API_KEY",
      "signingSecret",
    ];
    const fields = Object.fromEntries(names.map((name) => [name, "canary"]));
    const { text } = lines((log) =>
      log.child(fields).info({ ...fields, deep: { headers: fields } }, "names"),
    );
    expectNoCanary(text);
  });

  test.each([
    ["after Bearer", "Bearer key1234!canary$tail"],
    ["after Bearer, with a short beginning", "Bearer a!canary"],
    ["of Slack's shape", "xoxb-1234!canary$tail"],
    ["percent-encoded", encodeURIComponent("key1234!canary$tail")],
    ["that holds what looks percent-encoded", "https://x.example/%20key%41%canary"],
  ])("with characters that end its shape is taken out whole: %s", (_, written) => {
    const secrets = ["key1234!canary$tail", "a!canary", "xoxb-1234!canary$tail", "key%41%canary"];
    expectNoCanary(lines((log) => log.info({ written }, written), "debug", secrets).text);
  });

  test("that begins another secret, or lies inside a match of its shape, leaves nothing of either", () => {
    const secrets = ["abcd", "abcd!canary"];
    const { text } = lines(
      (log) => log.info({}, "abcd!canary and Bearer canaryabcdcanary"),
      "debug",
      secrets,
    );
    expectNoCanary(text);
  });

  test("in an address is removed in its encoded form", () => {
    expectNoCanary(lines((log) => log.info({ url: `/x?key=${encodeURIComponent(API_KEY)}` }, "sent")).text);
  });
});

describe("the log for Slack's packages", () => {
  test("does not pass on their debug entries, and passes on only texts and errors of the others", () => {
    const { entries, text } = lines((log) => {
      const logger = slackLogger(log);
      logger.setName("socket-mode");
      logger.debug("payload", { text: "hidden" });
      logger.info("connected", 3, { text: "hidden" });
      logger.warn({ text: "hidden" });
      logger.error("lost", new Error("closed"));
    });
    expect(entries).toMatchObject([
      { level: "info", from: "socket-mode", msg: "connected 3" },
      { level: "warn", msg: "(no words)" },
      { level: "error", msg: "lost", error: { message: "closed" } },
    ]);
    expect(entries).toHaveLength(3);
    expect(text).not.toContain("hidden");
  });

  test("keeps the level of our own log, whatever level they set", () => {
    const { entries } = lines((log) => {
      const logger = slackLogger(log);
      logger.setLevel(logger.getLevel());
      logger.info("quiet");
    }, "warn");
    expect(entries).toEqual([]);
  });
});

test("the pretty form works without a terminal", () => {
  const log = createLog({ level: "silent", pretty: true });
  expect(() => log.info({}, "unseen")).not.toThrow();
});
