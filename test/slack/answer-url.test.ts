import { describe, expect, test } from "vitest";
import { createAnswerAt, isSlacks } from "#src/slack/answer-url.ts";
import { failureOf } from "./failing.ts";
import { listening } from "./listening.ts";

describe("an address is Slack's", () => {
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
    ["http://127.0.0.1:3000/response/x", "127.0.0.1", true],
    ["https://127.0.0.1/response/x", "127.0.0.1", true],
    ["http://127.0.0.1.evil.example/x", "127.0.0.1", false],
    ["http://localhost:3000/x", "127.0.0.1", false],
    ["http://u@127.0.0.1/x", "127.0.0.1", false],
    ["ftp://127.0.0.1/x", "127.0.0.1", false],
    ["file:///etc/passwd", "127.0.0.1", false],
    ["javascript:alert(1)", null, false],
    ["data:text/plain,x", null, false],
    ["//hooks.slack.com/x", null, false],
    ["not an address", null, false],
    ["", null, false],
  ])("%s (our own host: %s): %s", (url, ownHost, is) => expect(isSlacks(url, ownHost)).toBe(is));
});

describe("a private answer", () => {
  test("is posted as one to a person, whatever the message says of itself", async () => {
    const slack = await listening();
    await createAnswerAt(slack.url)(`${slack.url}response/1`, { text: "hello" });
    expect(slack.heard).toMatchObject([{ method: "POST", url: "/response/1" }]);
    expect(JSON.parse(slack.heard[0]?.body ?? "")).toMatchObject({
      text: "hello",
      response_type: "ephemeral",
      replace_original: false,
    });
  });

  test("goes to no foreign address: not one byte", async () => {
    const stranger = await listening();
    const answerAt = createAnswerAt("http://slack.sandbox.test/api/");
    expect(await failureOf(answerAt(`${stranger.url}x`, { text: "hello" }))).toMatchObject({
      code: "foreign_response_url",
      applied: "no",
      retry: "never",
    });
    expect(await failureOf(createAnswerAt(null)(`${stranger.url}x`, { text: "hello" }))).toMatchObject({
      code: "foreign_response_url",
    });
    expect(stranger.heard).toEqual([]);
  });

  test("follows no redirect", async () => {
    const stranger = await listening();
    const slack = await listening((_request, response) =>
      response.writeHead(307, { location: `${stranger.url}elsewhere` }).end(),
    );
    const answerAt = createAnswerAt(slack.url);
    expect(await failureOf(answerAt(`${slack.url}response/1`, { text: "x" }))).toMatchObject({
      code: "http_307",
    });
    expect(stranger.heard).toEqual([]);
    expect(slack.heard).toHaveLength(1);
  });

  test("that Slack refuses is a failure and not repeated", async () => {
    const slack = await listening((_request, response) => response.writeHead(404).end("expired_url"));
    const answerAt = createAnswerAt(slack.url);
    expect(await failureOf(answerAt(`${slack.url}response/1`, { text: "x" }))).toMatchObject({
      code: "http_404",
      retry: "never",
    });
    expect(slack.heard).toHaveLength(1);
  });

  test("whose connection breaks may have arrived", async () => {
    const slack = await listening((request) => request.socket.destroy());
    expect(await failureOf(createAnswerAt(slack.url)(`${slack.url}r`, { text: "x" }))).toMatchObject({
      applied: "maybe",
      code: "no_answer",
    });
  });
});
