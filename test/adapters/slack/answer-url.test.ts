import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import {
  ANSWER_HOSTS,
  createReplacer,
  createResponder,
  isSlackAddress,
  UPLOAD_HOSTS,
} from "#src/adapters/slack/clients.ts";
import { PortError } from "#src/ports.ts";
import { failureOf } from "./failing.ts";
import { listening } from "./listening.ts";

describe("whether an address is Slack's", () => {
  test.each([
    ["https://hooks.slack.com/commands/T0/1/x", null, true],
    ["https://hooks.slack.com:443/commands/T0/1/x", null, true],
    ["http://hooks.slack.com/commands/T0/1/x", null, false],
    ["https://hooks.slack.com:8443/x", null, false],
    ["https://hooks.slack.com.evil.example/x", null, false],
    ["https://evil.example/hooks.slack.com", null, false],
    ["https://hooks.slack.com@evil.example/x", null, false],
    ["https://user@hooks.slack.com/x", null, false],
    ["https://user:pass@hooks.slack.com/x", null, false],
    ["https://xhooks.slack.com/x", null, false],
    ["https://slack.com/x", null, false],
    ["https://HOOKS.SLACK.COM/x", null, true],
    ["https://hooks.slack.com./x", null, false],
    ["https://hooks.slаck.com/x", null, false],
    ["https://hooks.slack.com\\@evil.example/x", null, true],
    ["http://169.254.169.254/latest/meta-data", null, false],
    ["http://127.0.0.1:3000/livez", null, false],
    ["http://127.0.0.1:3000/response/x", "http://127.0.0.1:4000/api", true],
    ["https://127.0.0.1/response/x", "http://127.0.0.1:4000/api", true],
    ["http://127.0.0.1.evil.example/x", "http://127.0.0.1:4000/api", false],
    ["http://localhost:3000/x", "http://127.0.0.1:4000/api", false],
    ["http://u@127.0.0.1/x", "http://127.0.0.1:4000/api", false],
    ["ftp://127.0.0.1/x", "http://127.0.0.1:4000/api", false],
    ["file:///etc/passwd", "http://127.0.0.1:4000/api", false],
    ["javascript:alert(1)", null, false],
    ["data:text/plain,x", null, false],
    ["http://slack.proxy.example/x", "https://slack.proxy.example/api", false],
    ["https://slack.proxy.example:8443/x", "https://slack.proxy.example/api", true],
    ["//hooks.slack.com/x", null, false],
    ["not an address", null, false],
    ["", null, false],
  ])("%s (SLACK_API_URL: %s): %s", (url, apiUrl, is) =>
    expect(isSlackAddress(url, ANSWER_HOSTS, apiUrl)).toBe(is),
  );

  test.each([
    ["https://files.slack.com/upload/v1/x", true],
    ["https://a.b-c.slack.com/upload", true],
    ["https://files.slack.com:8443/upload", false],
    ["https://user@files.slack.com/upload", false],
    ["https://slack.com.evil.example/upload", false],
    ["https://evilslack.com/upload", false],
    ["https://.slack.com/upload", false],
    ["http://files.slack.com/upload", false],
    ["ftp://files.slack.com/upload", false],
    ["", false],
  ])("for an upload %s: %s", (url, is) => expect(isSlackAddress(url, UPLOAD_HOSTS, null)).toBe(is));
});

describe("a private answer", () => {
  test("is posted to one person, whatever the message itself says", async () => {
    const slack = await listening();
    await createResponder(slack.url)(`${slack.url}response/1`, { text: "hello" });
    expect(slack.received).toMatchObject([{ method: "POST", url: "/response/1" }]);
    expect(JSON.parse(slack.received[0]?.body ?? "")).toMatchObject({
      text: "hello",
      response_type: "ephemeral",
      replace_original: false,
    });
  });

  test("is not sent to a foreign address: not one byte", async () => {
    const stranger = await listening();
    const answerAt = createResponder("http://slack.sandbox.test/api/");
    expect(await failureOf(answerAt(`${stranger.url}x`, { text: "hello" }))).toMatchObject({
      code: "foreign_response_url",
      applied: "no",
      retry: "never",
    });
    expect(await failureOf(createResponder(null)(`${stranger.url}x`, { text: "hello" }))).toMatchObject({
      code: "foreign_response_url",
    });
    expect(stranger.received).toEqual([]);
  });

  test("follows no redirect", async () => {
    const stranger = await listening();
    const slack = await listening((_request, response) =>
      response.writeHead(307, { location: `${stranger.url}elsewhere` }).end(),
    );
    const answerAt = createResponder(slack.url);
    expect(await failureOf(answerAt(`${slack.url}response/1`, { text: "x" }))).toMatchObject({
      code: "http_307",
    });
    expect(stranger.received).toEqual([]);
    expect(slack.received).toHaveLength(1);
  });

  test("that Slack refuses is a failure and is not repeated", async () => {
    const slack = await listening((_request, response) => response.writeHead(404).end("expired_url"));
    const answerAt = createResponder(slack.url);
    expect(await failureOf(answerAt(`${slack.url}response/1`, { text: "x" }))).toMatchObject({
      code: "http_404",
      retry: "never",
    });
    expect(slack.received).toHaveLength(1);
  });

  test("whose connection breaks may have arrived", async () => {
    const slack = await listening((request) => request.socket.destroy());
    expect(await failureOf(createResponder(slack.url)(`${slack.url}r`, { text: "x" }))).toMatchObject({
      applied: "maybe",
      code: "no_answer",
    });
  });
});

describe("a replaced message", () => {
  const message = { text: "hello", blocks: [] };

  test("is sent as a replacement, whatever the message itself says, and not as a private answer", async () => {
    const slack = await listening();
    await createReplacer(slack.url)(`${slack.url}response/1`, { ...message, replace_original: false });
    const asked: unknown = JSON.parse(slack.received[0]?.body ?? "");
    expect(asked).toMatchObject({ text: "hello", replace_original: true });
    expect(asked).not.toHaveProperty("response_type");
  });

  test.each([
    ["ok", 200, "ok", null],
    ["a record that says ok", 200, '{"ok":true}', null],
    ["a record that says no", 200, '{"ok":false,"error":"used_url"}', "no"],
    ["a page of a proxy", 200, "<html>ok</html>", "maybe"],
    ["an empty answer", 200, "", "maybe"],
    ["a word in JSON", 200, '{"ok":"true"}', "maybe"],
    ["a very long answer", 200, `"${"x".repeat(100_000)}"`, "maybe"],
    ["HTTP 404", 404, '{"ok":true}', "no"],
    ["HTTP 503", 503, "ok", "maybe"],
  ] as const)("counts as replaced only if Slack says so: %s", async (_what, status, body, applied) => {
    const slack = await listening((_request, response) => response.writeHead(status).end(body));
    const replaced = createReplacer(slack.url)(`${slack.url}response/1`, message);
    const failure = await replaced.then(
      () => null,
      (error: unknown) => (error instanceof PortError ? error.applied : error),
    );
    expect(failure).toBe(applied);
    expect(slack.received).toHaveLength(1);
  });

  test("is not sent to a foreign address, and its failure does not say where", async () => {
    const stranger = await listening();
    const failed = await failureOf(createReplacer(null)(`${stranger.url}secret-path`, message));
    expect(failed).toMatchObject({ code: "foreign_response_url", applied: "no" });
    expect(stranger.received).toEqual([]);
    const broken = await listening((request) => request.socket.destroy());
    const lost = await failureOf(createReplacer(broken.url)(`${broken.url}secret-path`, message));
    expect(lost).toMatchObject({ applied: "maybe" });
    expect(inspect([failed, lost], { depth: 10 })).not.toContain("secret-path");
  });
});
