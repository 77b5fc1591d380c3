import { describe, expect, test } from "vitest";
import { RunId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { OPENING, OUTPUT, requestSlot } from "#src/domain/slot.ts";
import { PortError } from "#src/ports.ts";
import type { Answer, Call } from "#src/adapters/slack/clients.ts";
import { createFiles } from "#src/adapters/slack/files.ts";
import { anApproval, aWatchedRun, CHANNEL, withApprovals } from "../../make/run.ts";
import { endedRun, requestOf } from "./observed.ts";
import { failureOf } from "./failing.ts";
import { listening } from "./listening.ts";

const withOutput = (output: string, id = RunId("run_7")): Run =>
  endedRun(aWatchedRun(id), { how: "succeeded", output });

function calling(answer: (method: string) => Answer) {
  const asked: { method: string; args: { readonly [name: string]: unknown } }[] = [];
  const call: Call = async (method, args) => {
    asked.push({ method, args });
    return answer(method);
  };
  return { call, asked };
}

describe("an upload", () => {
  test("sends the whole text, byte for byte, to the address that Slack returned", async () => {
    const slack = await listening();
    const { call, asked } = calling(() => ({ upload_url: `${slack.url}upload/1`, file_id: "F0" }));
    const output = "äöü 👩‍💻\n".repeat(2_000);
    expect(await createFiles(call, slack.url).upload(withOutput(output), OUTPUT)).toMatchObject({
      file: "F0",
    });
    expect(slack.received).toEqual([{ method: "POST", url: "/upload/1", body: output }]);
    expect(asked[0]?.args).toEqual({ filename: "output-run_7.txt", length: Buffer.byteLength(output) });
  });

  test("of a request contains the whole request, made visible", async () => {
    const slack = await listening();
    const { call } = calling(() => ({ upload_url: `${slack.url}upload/1`, file_id: "F0" }));
    const approval = { ...anApproval("apr_1"), request: requestOf("drop\u202E table", { risk: "high" }) };
    const run = withApprovals(aWatchedRun(RunId("run_7")), approval);
    await createFiles(call, slack.url).upload(run, requestSlot(approval));
    const [body = ""] = slack.received.map((each) => each.body);
    expect(body.slice(body.indexOf("\n\n"))).toBe("\n\ndrop⟨U+202E⟩ table\n\nrisk: high");
  });

  test("of a request has the digest that the form shows in its name, in its title and on its first line", async () => {
    const slack = await listening();
    const { call, asked } = calling(() => ({ upload_url: `${slack.url}upload/1`, file_id: "F0" }));
    const files = createFiles(call, slack.url);
    const requests = [requestOf("deploy", { to: "staging" }), requestOf("deploy", { to: "production" })];
    for (const request of requests) {
      const approval = { ...anApproval("apr_1"), request };
      const run = withApprovals(aWatchedRun(RunId("run_7-000000000000")), approval);
      await files.upload(run, requestSlot(approval));
      await files.share(run, "F0", requestSlot(approval));
    }
    const digests = requests.map(({ digest }) => digest.slice(0, 12));
    const names = digests.map((digest) => `request-${digest}.txt`);
    expect(new Set(names).size).toBe(2);
    expect(asked.flatMap(({ args }) => args["filename"] ?? [])).toEqual(names);
    expect(asked.flatMap(({ args }) => args["files"] ?? [])).toEqual(
      names.map((title) => ({ id: "F0", title })),
    );
    expect(slack.received.map(({ body }) => body.split("\n")[0])).toEqual(
      digests.map((digest) => `Request ${digest}`),
    );
  });

  test.each([
    ["a foreign host", "https://evil.example/upload"],
    ["a host that only ends like Slack's", "https://evilslack.com/upload"],
    ["a host that only begins like Slack's", "https://files.slack.com.evil.example/upload"],
    ["a host behind a user name", "https://files.slack.com@evil.example/upload"],
    ["plain HTTP", "http://files.slack.com/upload"],
    ["a file", "file:///etc/passwd"],
    ["the cloud's own address", "http://169.254.169.254/latest"],
    ["no address", "nonsense"],
    ["nothing", ""],
  ])("is not sent if Slack returns %s", async (_what, upload_url) => {
    const { call } = calling(() => ({ upload_url, file_id: "F0" }));
    const upload = createFiles(call, null).upload(withOutput("x"), OUTPUT);
    expect(await failureOf(upload)).toMatchObject({
      code: "foreign_upload_url",
      applied: "no",
      retry: "never",
    });
  });

  test("follows no redirect", async () => {
    const stranger = await listening();
    const slack = await listening((_request, response) =>
      response.writeHead(308, { location: `${stranger.url}upload` }).end(),
    );
    const { call } = calling(() => ({ upload_url: `${slack.url}upload`, file_id: "F0" }));
    const upload = createFiles(call, slack.url).upload(withOutput("secret"), OUTPUT);
    expect(await failureOf(upload)).toMatchObject({ code: "http_308" });
    expect(stranger.received).toEqual([]);
  });

  test("whose connection breaks may be tried again", async () => {
    const slack = await listening((request) => request.socket.destroy());
    const { call } = calling(() => ({ upload_url: `${slack.url}upload`, file_id: "F0" }));
    expect(await failureOf(createFiles(call, slack.url).upload(withOutput("x"), OUTPUT))).toMatchObject({
      applied: "no",
      retry: "later",
    });
  });

  test.each([
    [403, "later"],
    [413, "never"],
    [408, "later"],
    [429, "later"],
    [500, "later"],
  ])("that is answered with HTTP %i may be tried again: %s", async (status, retry) => {
    const slack = await listening((_request, response) => response.writeHead(status).end());
    const { call } = calling(() => ({ upload_url: `${slack.url}upload`, file_id: "F0" }));
    const failure = await failureOf(createFiles(call, slack.url).upload(withOutput("x"), OUTPUT));
    const publicMessage = `Slack's upload address answered HTTP ${status}`;
    expect(failure).toMatchObject({ applied: "no", retry, code: `http_${status}`, publicMessage });
  });

  test("has a file name of ours: of the run's id only harmless letters are kept", async () => {
    const slack = await listening();
    const { call, asked } = calling(() => ({ upload_url: `${slack.url}upload`, file_id: "F0" }));
    const id = RunId(`../../etc/passwd\u202E${"x".repeat(400)}`);
    await createFiles(call, slack.url).upload(withOutput("x", id), OUTPUT);
    expect(asked[0]?.args["filename"]).toMatch(/^output-etcpasswdx{1,31}\.txt$/);
  });

  test("without an address in Slack's answer is a failure", async () => {
    const { call } = calling(() => ({}));
    expect(await failureOf(createFiles(call, null).upload(withOutput("x"), OUTPUT))).toMatchObject({
      code: "garbled",
    });
  });
});

describe("sharing a file", () => {
  const up = { type: "up", ts: "1.1", shows: "", sweepAt: null, notBefore: 0 };
  const run = { ...withOutput("x"), posts: { [OPENING]: up } } as unknown as Run;

  test("posts it in the run's thread", async () => {
    const { call, asked } = calling(() => ({}));
    expect(await createFiles(call, null).share(run, "F0", OUTPUT)).toBe("shared");
    expect(asked).toEqual([
      {
        method: "files.completeUploadExternal",
        args: { files: [{ id: "F0", title: "output-run_7.txt" }], channel_id: CHANNEL, thread_ts: "1.1" },
      },
    ]);
  });

  test.each([
    ["file_not_found", "gone"],
    ["not_in_channel", "rejected"],
  ])("returns for %s: %s", async (code, says) => {
    const { call } = calling(() => {
      throw new PortError("no", { applied: "no", retry: "never", code });
    });
    const shared = createFiles(call, null).share(run, "F0", OUTPUT);
    expect(await shared.catch((error: unknown) => (error instanceof PortError ? "rejected" : error))).toBe(
      says,
    );
  });
});

test("a file that a newer one replaces is given up, and a long upload leaves room for others", async () => {
  const slack = await listening();
  const { call } = calling(() => ({ upload_url: `${slack.url}upload/1`, file_id: "F0" }));
  const files = createFiles(call, slack.url);
  const watched = aWatchedRun(RunId("run_7"));
  const requestIn = (action: string) => {
    const approval = { ...anApproval("apr_1"), request: requestOf(action, { action }) };
    return [withApprovals(watched, approval), requestSlot(approval)] as const;
  };
  let turns = 0;
  const others = setInterval(() => (turns += 1), 0);
  const first = files.upload(...requestIn("deploy it now ".repeat(200_000)));
  const second = files.upload(...requestIn("deploy it then"));
  expect(await failureOf(first)).toMatchObject({ code: "replaced", applied: "no", retry: "later" });
  expect(await second).toMatchObject({ file: "F0" });
  expect(slack.received.map(({ body }) => body)).toEqual([expect.stringMatching(/\n\ndeploy it then$/)]);
  await files.upload(...requestIn("deploy it now ".repeat(200_000)));
  clearInterval(others);
  expect(turns).toBeGreaterThan(10);
});
