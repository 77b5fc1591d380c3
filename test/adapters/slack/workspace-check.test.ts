// Which payloads are for our app and our workspace.

import { expect, test } from "vitest";
import { originOf } from "#src/adapters/slack/payloads.ts";
import { checkOrigin } from "#src/adapters/slack/workspace-check.ts";

const self = { app: "A0US", team: "T0US", enterprise: null };
const rejectionOf = (body: object) =>
  checkOrigin({ self, teamOf: () => Promise.reject(new Error("asked")) }, originOf(body));

const user = { id: "U0ANA", team_id: "T0US" };
const ours = { team: { id: "T0US" }, user };

test("a message's shortcut names no app, as Slack sends it, and is ours", async () => {
  expect(await rejectionOf({ type: "message_action", ...ours })).toBeNull();
  expect(await rejectionOf({ type: "message_action", ...ours, api_app_id: "A0US" })).toBeNull();
});

test.each([null, "", "A0OTHER", ["A0US"], 7])("a shortcut for the app %j is not", async (api_app_id) => {
  expect(await rejectionOf({ type: "message_action", ...ours, api_app_id })).toBe("other-app");
});

test.each(["block_actions", "view_submission", "view_closed", "event_callback", undefined])(
  "a %s without an app is not",
  async (type) => {
    expect(await rejectionOf({ type, ...ours })).toBe("other-app");
  },
);

test("a shortcut of another workspace is not", async () => {
  expect(await rejectionOf({ type: "message_action", user, team: null })).toBe("other-team");
});
