// Which payloads are for our app and our workspace.

import { describe, expect, test } from "vitest";
import { originOf } from "#src/adapters/slack/payloads.ts";
import { checkOrigin, createWorkspaceCheck } from "#src/adapters/slack/workspace-check.ts";
import { PortError } from "#src/ports.ts";

const self = { app: "A0US", team: "T0US", enterprise: null };
const rejectionOf = (body: object) =>
  checkOrigin({ self, teamOf: () => Promise.reject(new Error("asked")) }, originOf(body));

const user = { id: "U0ANA", team_id: "T0US" };
const ours = { team: { id: "T0US" }, user };

test("a message shortcut names no app, as Slack sends it, and is ours", async () => {
  expect(await rejectionOf({ type: "message_action", ...ours })).toBeNull();
  expect(await rejectionOf({ type: "message_action", ...ours, api_app_id: "A0US" })).toBeNull();
});

test.each([null, "", "A0OTHER", ["A0US"], 7])("a shortcut for the app %j is not ours", async (api_app_id) => {
  expect(await rejectionOf({ type: "message_action", ...ours, api_app_id })).toBe("other-app");
});

test.each(["block_actions", "view_submission", "view_closed", "event_callback", undefined])(
  "a %s without an app is not ours",
  async (type) => {
    expect(await rejectionOf({ type, ...ours })).toBe("other-app");
  },
);

test("a shortcut of another workspace is not ours", async () => {
  expect(await rejectionOf({ type: "message_action", user, team: null })).toBe("other-team");
});

describe("a person from another workspace", () => {
  const theirs = {
    type: "block_actions",
    api_app_id: "A0US",
    team: { id: "T0THEM" },
    user: { id: "U0GUEST" },
  };
  const judged = (body: object, teamOf: () => Promise<string>) =>
    checkOrigin({ self, teamOf }, originOf(body));

  test("is let through to a use case if Slack says that the workspace is theirs", async () => {
    expect(await judged(theirs, () => Promise.resolve("T0THEM"))).toBeNull();
  });
  test("is refused if Slack says that they belong elsewhere", async () => {
    expect(await judged(theirs, () => Promise.resolve("T0US"))).toBe("other-team");
  });
  test("is refused for now if Slack does not say", async () => {
    const silent = new PortError("away", { applied: "no", retry: "later", code: "down" });
    expect(await judged(theirs, () => Promise.reject(silent))).toBe("unverified-team");
  });
  test("is refused if no user is named, without a look-up", async () => {
    expect(await judged({ ...theirs, user: undefined }, () => Promise.resolve("T0THEM"))).toBe("other-team");
  });
  test("does not look like a fault of Slack if this program fails", async () => {
    await expect(judged(theirs, () => Promise.reject(new Error("a fault")))).rejects.toThrow("a fault");
  });
});

test("everything that our organization installed is ours, in any workspace; what another one installed is not", async () => {
  const grid = { ...self, enterprise: "E0US" };
  const body = { type: "block_actions", api_app_id: "A0US", is_enterprise_install: true, team: null };
  const judged = (id: string, by: typeof self | typeof grid = grid) =>
    checkOrigin(
      { self: by, teamOf: () => Promise.reject(new Error("asked")) },
      originOf({ ...body, enterprise: { id } }),
    );
  expect(await judged("E0US")).toBeNull();
  expect(await judged("E0THEM")).toBe("other-team");
  expect(await judged("E0US", self)).toBe("other-team");
});

describe("a refused payload", () => {
  async function refused(body: object, { failing = false } = {}) {
    const result = {
      acked: [] as (object | undefined)[],
      answered: [] as string[],
      reasons: [] as string[],
      passed: 0,
    };
    const check = createWorkspaceCheck({
      self,
      teamOf: () => Promise.resolve("T0US"),
      rejectedRequests: (reason) => void result.reasons.push(reason),
      answerAt: (url, message) => {
        result.answered.push(`${url} ${idOf(message)}`);
        return failing ? Promise.reject(new Error("gone")) : Promise.resolve();
      },
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    const ack = (answer?: object): Promise<void> => (result.acked.push(answer), Promise.resolve());
    const next = (): Promise<void> => ((result.passed += 1), Promise.resolve());
    await check({ body, ack, next });
    return result;
  }
  const idOf = (message: object): string => /answer:[a-z-]+/.exec(JSON.stringify(message))?.[0] ?? "";
  const foreign = { api_app_id: "A0OTHER", ...ours };
  const url = "https://hooks.slack.test/1";

  test("of a command is answered to its person alone", async () => {
    const { acked, reasons, passed } = await refused({ ...foreign, command: "/agent" });
    expect(acked).toEqual([expect.objectContaining({ response_type: "ephemeral" })]);
    expect(acked.map((each) => idOf(each ?? {}))).toEqual(["answer:other-app"]);
    expect({ reasons, passed }).toEqual({ reasons: ["other-app"], passed: 0 });
  });

  test("of a form is answered in the form, with the reason", async () => {
    const { acked } = await refused({ ...foreign, type: "view_submission" });
    expect(acked).toEqual([expect.objectContaining({ response_action: "update" })]);
    expect(idOf(acked[0] ?? {})).toBe("answer:other-app");
  });

  test.each(["block_actions", "message_action"])(
    "of type %s is answered where Slack wants the answer",
    async (type) => {
      for (const failing of [false, true]) {
        const { acked, answered } = await refused({ ...foreign, type, response_url: url }, { failing });
        expect({ acked, answered }).toEqual({ acked: [undefined], answered: [`${url} answer:other-app`] });
      }
    },
  );

  test.each([
    { type: "view_closed", response_url: url },
    { type: "block_actions" },
    { type: "block_actions", response_url: 7 },
    { response_url: url },
  ])("is not answered otherwise: %j", async (body) => {
    const { acked, answered } = await refused({ ...foreign, ...body });
    expect({ acked, answered }).toEqual({ acked: [undefined], answered: [] });
  });

  test("of an event gets no answer", async () => {
    const reasons: string[] = [];
    const check = createWorkspaceCheck({
      self,
      teamOf: () => Promise.resolve("T0US"),
      rejectedRequests: (reason) => void reasons.push(reason),
      answerAt: () => Promise.reject(new Error("answered")),
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    await check({
      body: { ...foreign, type: "event_callback" },
      next: () => Promise.reject(new Error("passed on")),
    });
    expect(reasons).toEqual(["other-app"]);
  });

  test("is never one of ours", async () => {
    const { acked, reasons, passed } = await refused({ type: "message_action", ...ours });
    expect({ acked, reasons, passed }).toEqual({ acked: [], reasons: [], passed: 1 });
  });
});
