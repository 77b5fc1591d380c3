// A naive bot makes every mistake once, and gets the table's code for it.

import type { App } from "@slack/bolt";
import type { WebClient } from "@slack/web-api";
import { afterEach, beforeEach, expect, test } from "vitest";

import { errors } from "#sandbox/slack/errors.ts";
import type { Code } from "#sandbox/slack/errors.ts";
import type { Slack } from "#sandbox/slack/start-slack.ts";

import {
  ana,
  clientOf,
  connect,
  guest,
  lastTrigger,
  opsAgents,
  payments,
  plain,
  random,
  reasonModal,
  refusal,
  startFull,
} from "./bolt-app.ts";

let slack: Slack;
let client: WebClient;
let time = 1_700_000_000_000;
let stops: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  slack = await startFull({ now: () => time });
  client = clientOf(slack);
  stops = [slack.stop];
});

afterEach(async () => {
  for (const stop of stops.toReversed()) await stop();
});

const codeOf = async (call: Promise<unknown>): Promise<string> => String((await refusal(call))["error"]);
const call = (method: string, args: Record<string, unknown> = {}) => codeOf(client.apiCall(method, args));
const post = (args: Record<string, unknown>) => call("chat.postMessage", { channel: opsAgents, ...args });
const update = (args: Record<string, unknown>) =>
  call("chat.update", { channel: opsAgents, ts: mine(), ...args });

const write = (more: object = {}) =>
  slack.workspace.post({ channel: opsAgents, author: slack.workspace.app.person, text: "mine", ...more });
const mine = (more: object = {}): string => write(more).ts;

const bolt = async (listen: (app: App) => void): Promise<void> => {
  stops.push((await connect(slack, listen)).stop);
};

const trigger = async (): Promise<string> => {
  await slack.acts.command(ana, opsAgents, "/agent", "");
  return lastTrigger(slack, "slash_commands");
};

const open = async (view: object = reasonModal()) =>
  call("views.open", { trigger_id: await trigger(), view });

const topView = () => slack.workspace.viewsOf(ana).at(-1)?.id ?? "";

type Request = {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Blob;
};

const raw = async (path: string, init: Request): Promise<string> => {
  const headers = { authorization: `Bearer ${slack.botToken}`, ...init.headers };
  const answer = await fetch(`${slack.apiUrl}${path}`, { method: "POST", ...init, headers });
  return String(((await answer.json()) as { error?: string }).error);
};

/** Sends an app's answer to the response_url of a command by Ana, and resolves to the error. */
const answer = async (body: unknown, before = async (_url: string): Promise<void> => {}): Promise<string> => {
  let url = "";
  await bolt((app) =>
    app.command("/agent", async ({ ack, payload }) => {
      url = payload.response_url;
      await ack();
    }),
  );
  await slack.acts.command(ana, opsAgents, "/agent", "");
  await before(url);
  return answerAt(url, body);
};

const answerAt = async (url: string, body: unknown): Promise<string> => {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return String(((await response.json()) as { error?: string }).error);
};

/** Returns the code with which Slack rejected an acknowledgment. */
const turnedDown = (): string =>
  String(slack.traffic.lines().findLast(({ what }) => what.startsWith("acknowledgement of"))?.refused);

const submitted = async (ack: object): Promise<string> => {
  await bolt((app) => {
    app.command("/agent", async ({ ack: done, body, client: own }) => {
      await done();
      await own.views.open({ trigger_id: body.trigger_id, view: reasonModal() });
    });
    app.view("reason", (args) => args.ack(ack as never));
  });
  await slack.acts.command(ana, opsAgents, "/agent", "");
  await slack.workspace.until(() => topView());
  await slack.acts.submit(ana, topView(), { reason: { text: "because" } });
  return turnedDown();
};

const announce = (more: object = {}) =>
  call("files.getUploadURLExternal", { filename: "a.txt", length: 3, ...more });

const wide = Array.from({ length: 5 }, () => ({ type: "section", text: plain("x".repeat(3000)) }));
const options = Array.from({ length: 100 }, (_, index) => ({
  text: plain("x".repeat(75)),
  value: `${index}`.padEnd(75, "v"),
}));
const menus = Array.from({ length: 13 }, (_, index) => ({
  type: "input",
  block_id: `b${index}`,
  label: plain("L"),
  element: { type: "static_select", action_id: "a", options },
}));

/** One mistake for each code. The compiler checks that none is missing. */
const mistakes: Record<Code, () => Promise<string>> = {
  unknown_method: () => call("chat.shout"),
  not_authed: () => raw("auth.test?token=in-the-query", { headers: { authorization: "" }, method: "GET" }),
  invalid_auth: () => codeOf(clientOf(slack, "xoxb-of-someone-else").auth.test()),
  not_allowed_token_type: () => call("apps.connections.open"),
  missing_scope: () => {
    slack.faults.revokeScope("users:read");
    return call("users.info", { user: ana });
  },
  invalid_arguments: () => call("users.info", { usr: ana }),
  missing_argument: () => announce({ length: 0 }),
  missing_post_type: () => raw("auth.test", { body: new Blob(["x=1"]) }),
  invalid_post_type: () => raw("auth.test", { headers: { "content-type": "text/xml" }, body: "<x/>" }),
  invalid_form_data: () =>
    raw("auth.test", { headers: { "content-type": "multipart/form-data" }, body: "x" }),
  invalid_json: () => raw("auth.test", { headers: { "content-type": "application/json" }, body: "{" }),
  json_not_object: () => raw("auth.test", { headers: { "content-type": "application/json" }, body: "[]" }),
  insecure_request: () =>
    raw("apps.connections.open", { method: "GET", headers: { authorization: `Bearer ${slack.appToken}` } }),

  channel_not_found: () => post({ channel: "C0NOWHERE", text: "x" }),
  not_in_channel: () => post({ channel: random, text: "x" }),
  is_archived: () => {
    slack.faults.archive(opsAgents);
    return post({ text: "x" });
  },
  is_inactive: () => {
    const ts = mine();
    slack.faults.archive(opsAgents);
    return update({ ts, text: "x" });
  },
  messages_tab_disabled: async () => {
    const quiet = await startFull({ manifestPath: new URL("manifest-quiet.yml", import.meta.url).pathname });
    stops.push(quiet.stop);
    return codeOf(clientOf(quiet).chat.postMessage({ channel: ana, text: "psst" }));
  },
  no_text: () => post({}),
  msg_too_long: () => update({ text: "x".repeat(4001) }),
  msg_blocks_too_long: () => post({ text: "x", blocks: wide }),
  markdown_text_conflict: () => post({ text: "x", markdown_text: "y" }),
  invalid_blocks: () => post({ text: "x", blocks: [{ type: "header", text: plain("x".repeat(151)) }] }),
  invalid_blocks_format: () => post({ text: "x", blocks: "{not json" }),
  invalid_metadata_format: () => post({ text: "x", metadata: "[]" }),
  invalid_metadata_schema: () => post({ text: "x", metadata: { event_type: "a" } }),
  invalid_thread_ts: () => post({ text: "x", thread_ts: "0" }),
  cannot_reply_to_message: () => post({ text: "x", thread_ts: mine({ thread: mine() }) }),
  user_not_in_channel: () => call("chat.postEphemeral", { channel: payments, user: guest, text: "x" }),
  message_not_found: () => update({ ts: mine({ ephemeralFor: ana }), text: "x" }),
  cant_update_message: () => update({ ts: mine({ author: ana }), text: "x" }),
  cant_delete_message: () => call("chat.delete", { channel: opsAgents, ts: mine({ author: ana }) }),

  invalid_trigger_id: () => call("views.open", { trigger_id: "1.2.made-up", view: reasonModal() }),
  expired_trigger_id: async () => {
    const late = await trigger();
    time += 3001;
    return call("views.open", { trigger_id: late, view: reasonModal() });
  },
  exchanged_trigger_id: async () => {
    const used = await trigger();
    await call("views.open", { trigger_id: used, view: reasonModal() });
    return call("views.open", { trigger_id: used, view: reasonModal() });
  },
  not_found: async () => {
    await open();
    const gone = topView();
    await slack.acts.close(ana, gone);
    return call("views.update", { view_id: gone, view: reasonModal() });
  },
  hash_conflict: async () => {
    await open();
    return call("views.update", { view_id: topView(), hash: "0.stale", view: reasonModal() });
  },
  push_limit_reached: async () => {
    await open();
    const push = async () => {
      await slack.acts.submit(ana, topView(), { reason: { text: "x" } });
      return call("views.push", { trigger_id: lastTrigger(slack, "view_submission"), view: reasonModal() });
    };
    await push();
    await push();
    return push();
  },
  duplicate_external_id: async () => {
    await open(reasonModal({ external_id: "one" }));
    return call("views.publish", { user_id: ana, view: { type: "home", external_id: "one", blocks: [] } });
  },
  view_too_large: () => open(reasonModal({ blocks: menus })),
  not_enabled: async () => {
    const quiet = await startFull({ manifestPath: new URL("manifest-quiet.yml", import.meta.url).pathname });
    stops.push(quiet.stop);
    const view = { type: "home" as const, blocks: [] };
    return codeOf(clientOf(quiet).views.publish({ user_id: ana, view }));
  },

  invalid_cursor: () => call("conversations.history", { channel: opsAgents, cursor: "2" }),
  invalid_limit: () => call("conversations.members", { channel: opsAgents, limit: 0 }),
  invalid_ts_oldest: () => call("conversations.history", { channel: opsAgents, oldest: "yesterday" }),
  invalid_ts_latest: () => call("conversations.history", { channel: opsAgents, latest: "tomorrow" }),
  thread_not_found: () => call("conversations.replies", { channel: opsAgents, ts: "1.000001" }),
  bot_not_found: () => call("bots.info", { bot: "B0NOBODY" }),
  user_not_found: () => call("users.info", { user: "U0NOBODY" }),
  user_disabled: () => call("conversations.open", { users: "U0DEE" }),
  cannot_dm_bot: () => call("conversations.open", { users: "U0ROTA" }),
  users_list_not_supplied: () => call("conversations.open"),
  method_not_supported_for_channel_type: () => call("conversations.open", { channel: opsAgents }),
  no_such_subteam: () => call("usergroups.users.list", { usergroup: "S0OLDCREW" }),

  file_not_found: async () => {
    const { file_id: id } = await client.files.getUploadURLExternal({ filename: "a.txt", length: 3 });
    return call("files.completeUploadExternal", { files: [{ id }], channel_id: opsAgents });
  },
  file_upload_size_restricted: () => announce({ length: 1_000_000_001 }),
  snippet_too_large: () => announce({ length: 1_000_001, snippet_type: "python" }),
  alt_txt_too_large: () => announce({ alt_txt: "x".repeat(1001) }),
  channels_limit_exceeded: () => {
    const channels = Array.from({ length: 101 }, () => opsAgents).join(",");
    return call("files.completeUploadExternal", { files: [{ id: "F0" }], channels });
  },
  invalid_name: () => call("reactions.add", { channel: opsAgents, timestamp: mine(), name: ":eyes:" }),
  already_reacted: async () => {
    const at = { channel: opsAgents, timestamp: mine(), name: "eyes" };
    await client.reactions.add(at);
    return call("reactions.add", at);
  },
  no_reaction: () => call("reactions.remove", { channel: opsAgents, timestamp: mine(), name: "eyes" }),

  invalid_url: () => answerAt(`${slack.url}response/T0SANDBOX/made-up`, { text: "x" }),
  expired_url: () =>
    answer({ text: "x" }, async () => {
      time += 30 * 60_000 + 1;
    }),
  used_url: () =>
    answer({ text: "x" }, async (url) => {
      for (let use = 0; use < 5; use++) expect(await answerAt(url, { text: "x" })).toBe("undefined");
    }),
  invalid_payload: () => answer({ delete_original: true, text: "x" }),
  invalid_response_type: () => answer({ text: "x", response_type: "everywhere" }),
  invalid_response_action: () => submitted({ response_action: "explode" }),
  invalid_errors: () => submitted({ response_action: "errors", errors: { nowhere: "x" } }),
};

const codes = Object.keys(errors) as Code[];

test.each(codes)("a naive bot trips over %s", async (code) => expect(await mistakes[code]()).toBe(code));
