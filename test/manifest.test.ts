// Compares manifest.yml with the code: it requests everything that the code uses, and nothing else.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { App } from "@slack/bolt";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { eventScopes } from "#sandbox/slack/events.ts";
import { methods } from "#sandbox/slack/methods.ts";
import { SLACK_METHODS } from "#src/adapters/http/label-values.ts";
import { runList } from "#src/adapters/slack/blocks/command-answers.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import {
  changedModal,
  formView,
  heldModal,
  readModal,
  messageModal,
} from "#src/adapters/slack/blocks/decision-modal.ts";
import { followUpForm } from "#src/adapters/slack/blocks/follow-up-forms.ts";
import { homeView } from "#src/adapters/slack/blocks/home-view.ts";
import { runForm, savedTaskForm, taskMenu } from "#src/adapters/slack/blocks/run-form.ts";
import { SAVED_TASK } from "./make/saved-task.ts";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import { runSuggestion } from "#src/adapters/slack/free-text.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import { listen } from "#src/adapters/slack/listeners.ts";
import * as names from "#src/adapters/slack/names.ts";
import { readConfig } from "#src/config.ts";
import type { Approval } from "#src/domain/approval.ts";
import { PLANNED } from "#src/domain/posted-message.ts";
import { questionSlot } from "#src/domain/question.ts";
import { STOPPED, OPENING, OUTCOME, requestSlot } from "#src/domain/slot.ts";
import type { Run } from "#src/domain/run.ts";
import { aRule } from "./make/policy.ts";
import {
  anApproval,
  anAuditEntry,
  aNonce,
  aTicket,
  APPROVER,
  aRequest,
  aRun,
  aRunKey,
  aWatchedRun,
  NOON,
  REQUESTER,
  withApprovals,
} from "./make/run.ts";
import { reviewSeveralModal, reviewView } from "#src/adapters/slack/blocks/review-modal.ts";
import { reviewedModal } from "#src/adapters/slack/blocks/reviewed-modal.ts";
import { SHOW_MINE } from "#src/adapters/slack/queue-choice.ts";
import { aQueue, aQueuePage } from "./make/queue.ts";

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const manifest = z
  .object({
    features: z.object({
      app_home: z.record(z.string(), z.boolean()),
      shortcuts: z.array(z.object({ type: z.string(), callback_id: z.string() })),
      bot_user: z.object({ display_name: z.string() }),
      slash_commands: z.array(
        z.object({ command: z.string(), usage_hint: z.string(), should_escape: z.boolean() }),
      ),
    }),
    oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }),
    settings: z.object({
      interactivity: z.object({ is_enabled: z.boolean() }),
      event_subscriptions: z.object({ bot_events: z.array(z.string()) }).default({ bot_events: [] }),
      socket_mode_enabled: z.boolean(),
    }),
  })
  .parse(parse(readFileSync(at("manifest.yml"), "utf8")));

const [command] = manifest.features.slash_commands;
const scopes = manifest.oauth_config.scopes.bot;

const code = readdirSync(at("src/adapters/slack"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => readFileSync(join(at("src/adapters/slack"), path), "utf8"))
  .join("\n");

/** Every Web API method in the sandbox's table that our code names. */
const called = [...methods.keys()].filter((name) => code.includes(`"${name}"`));

/** Returns the names of everything that the code listens to, recorded by a fake app. */
function listenedTo() {
  const found = {
    commands: [] as string[],
    actions: [] as string[],
    views: [] as string[],
    shortcuts: [] as string[],
    others: [] as string[],
  };
  const to = (list: string[]) => (name: unknown) => void list.push(String(name));
  const app = {
    command: to(found.commands),
    action: to(found.actions),
    view: to(found.views),
    event: to(found.others),
    message: to(found.others),
    shortcut: to(found.shortcuts),
    options: to(found.others),
  };
  listen(app as unknown as App, { command: defaultCommand() } as unknown as ListenerDeps);
  return found;
}

function defaultCommand(): string {
  const env = {
    SLACK_BOT_TOKEN: "xoxb-1",
    SLACK_APP_TOKEN: "xapp-1",
    AGENT_BASE_URL: "http://127.0.0.1:1",
    AGENT_API_KEY: "key-of-the-agents",
  };
  const read = readConfig(env);
  if (!read.ok) throw new Error("the minimal configuration was refused");
  return read.value.slack.command;
}

function aReceipt() {
  const entry = { seq: 1, link: "0".repeat(64), entry: anAuditEntry(aRun(), { what: "decided" }) };
  const facts = { entry, about: null, action: null, channel: null, card: null };
  const notification = {
    id: aNonce(),
    kind: "receipt",
    entry: 1,
    to: REQUESTER,
    madeAt: NOON,
    post: PLANNED,
  } as const;
  return notificationMessage(notification, facts);
}

/** Returns all names of this kind that appear in our messages and modals. */
function emitted(field: "action_id" | "callback_id"): Set<string> {
  const long = { ...aRequest(), chars: 5_000 };
  const run: Run = aWatchedRun();
  const [approval, longOne] = [anApproval(), { ...anApproval(), request: long }];
  const decision = { verdict: "approve", reason: "", by: null, at: NOON, digest: "" } as const;
  const held: Approval = {
    ...approval,
    state: { type: "decided", decision, delivery: { type: "held", until: NOON, sendAt: NOON } },
  };
  const rule = aRule({ friction: { readFirst: true, word: "yes" }, denyReasons: ["No"] });
  const wordy: Run = { ...run, approvals: [{ ...approval, appliedRule: { version: "1", rule } }] };
  const unknown: Run = { ...aRun(), creation: { type: "unknown", words: "", at: NOON, again: "asked" } };
  const waits = withApprovals(run, approval, anApproval());
  const filter = { show: SHOW_MINE, channel: null, page: 1, menuName: "" };
  const manyPages = aQueuePage(
    [waits, { ...waits, key: aRunKey() }],
    {},
    { page: 1, pages: 3, choice: filter },
  );
  const { yours } = aQueue([waits]);
  const forms = yours.map((item) => ({ item: { ...item, rule }, nonce: aNonce() }));
  const together = {
    bundle: aNonce(),
    forms,
    apart: [],
    later: [],
    kind: "run",
    value: "v",
    last: null,
  } as const;
  const asked = { id: aNonce(), by: APPROVER, at: NOON, text: "Why?" };
  const talk: Run = { ...run, approvals: [{ ...approval, followUp: { questions: [asked] } }] };
  const followUp = (["question", "answer", "hand-over", "snooze"] as const).map((asks) =>
    followUpForm({ run: talk, ticket: { ...aTicket(talk, approval), asks } }),
  );
  const everything = [
    ...followUp,
    messageIn(talk, questionSlot(asked.id)),
    approvalCard(run, approval),
    approvalCard(run, longOne),
    approvalCard(run, held),
    approvalCard({ ...run, uploads: { [requestSlot(approval)]: { type: "up", file: "F0" } } }, approval),
    messageIn(run, OPENING),
    messageIn({ ...run, stop: { by: REQUESTER, at: NOON } }, STOPPED),
    messageIn({ ...run, storm: { since: NOON, waiting: 9, at: NOON, until: null } }, `storm ${NOON}`),
    messageIn(unknown, OUTCOME),
    messageIn({ ...aRun(), creation: { type: "refused", words: "", at: NOON } }, OUTCOME),
    formView({ run: wordy, ticket: { saw: aRequest(), verdict: "approve", nonce: aNonce(), reading: true } }),
    formView({ run, ticket: { saw: long, verdict: "approve", nonce: aNonce() } }),
    formView({ run: wordy, ticket: { saw: approval.request, verdict: "approve", nonce: aNonce() } }),
    formView({ run, ticket: { saw: long, verdict: "deny", nonce: aNonce() } }),
    formView({ run: wordy, ticket: { saw: approval.request, verdict: "deny", nonce: aNonce() } }),
    reviewView({
      run: wordy,
      ticket: { saw: aRequest(), verdict: "approve", nonce: aNonce(), choice: true },
    }),
    heldModal(run, held, aNonce()),
    reviewSeveralModal(together, []),
    reviewedModal({ recorded: { approve: 1, deny: 0 }, refused: [] }, { metadata: "m", waiting: 1 }),
    readModal(run, long),
    changedModal(run, long, long),
    messageModal("No", "no", "refusal:unknown"),
    runForm("m", false, "", taskMenu([SAVED_TASK], null)),
    savedTaskForm("m", taskMenu([SAVED_TASK], SAVED_TASK), SAVED_TASK),
    runForm("m", true),
    homeView({ page: manyPages, own: [], moreOwn: false }, NOON),
    aReceipt(),
    runList({ title: "Runs", none: "None." }, [{ run, link: null }], true, 10),
    runSuggestion("deploy it", "/agent", aNonce()),
  ];
  const found = JSON.stringify(everything).matchAll(new RegExp(`"${field}":"([^"]+)"`, "g"));
  return new Set([...found].map(([, name]) => name ?? ""));
}

describe("the manifest", () => {
  test("has the one command that the code listens to by default, unescaped, with all its subcommands", () => {
    expect(manifest.features.slash_commands).toHaveLength(1);
    expect(command?.command).toBe(defaultCommand());
    expect(listenedTo().commands).toEqual([command?.command]);
    expect(command?.should_escape).toBe(false);
    const hinted = command?.usage_hint.split("|").map((each) => each.trim().split(" ")[0]);
    expect(hinted).toEqual([...names.SUBCOMMANDS]);
  });

  test("enables interactivity and Socket Mode", () => {
    expect(manifest.settings).toMatchObject({
      interactivity: { is_enabled: true },
      socket_mode_enabled: true,
    });
  });

  test("subscribes to the events that the code listens to", () => {
    // For Bolt, this is one event. The manifest has one event for each kind of channel.
    const asSubscribed = (name: string): string[] =>
      name === names.MESSAGE ? ["message.channels", "message.groups"] : [name];
    expect(listenedTo().others).toEqual([
      names.MENTIONED,
      names.HOME_OPENED,
      names.MESSAGE,
      names.MEMBER_JOINED,
    ]);
    expect(manifest.settings.event_subscriptions.bot_events).toEqual(
      listenedTo().others.flatMap(asSubscribed),
    );
  });

  test("has the shortcuts that the code listens to", () => {
    expect(manifest.features.shortcuts).toEqual([
      expect.objectContaining({ type: "message", callback_id: names.RUN_ON_MESSAGE }),
    ]);
    expect(listenedTo().shortcuts).toEqual([names.RUN_ON_MESSAGE]);
  });

  test("has a Home tab and a read-only Messages tab, because commands are typed in channels", () => {
    expect(manifest.features.app_home).toEqual({
      home_tab_enabled: true,
      messages_tab_enabled: true,
      messages_tab_read_only_enabled: true,
    });
  });

  test("gives the bot the name that the texts of refusals use", () => {
    expect(code).toContain(`/invite @${manifest.features.bot_user.display_name}`);
  });
});

describe("a scope", () => {
  test("is requested only if a called method or an event needs it", () => {
    const ofEvents = manifest.settings.event_subscriptions.bot_events.map(
      (each) => eventScopes.get(each) ?? "",
    );
    const needed = new Set([
      "commands",
      ...ofEvents,
      ...called.flatMap((name) => methods.get(name)?.scopes ?? []),
    ]);
    expect(scopes.filter((scope) => !needed.has(scope))).toEqual([]);
  });

  test("is requested for every called method", () => {
    expect(called.length).toBeGreaterThan(8);
    const without = called.filter((name) => {
      const any = methods.get(name)?.scopes ?? [];
      return any.length > 0 && !any.some((scope) => scopes.includes(scope));
    });
    expect(without).toEqual([]);
  });

  test("of channels is requested for public and private ones alike, and never for direct messages", () => {
    for (const what of ["read", "history"])
      expect(
        [`channels:${what}`, `groups:${what}`, `im:${what}`].filter((scope) => scopes.includes(scope)),
      ).toEqual([`channels:${what}`, `groups:${what}`]);
  });

  test("is requested once", () => expect(new Set(scopes).size).toBe(scopes.length));
});

test("the sandbox knows every method that the code calls", () => {
  const said = [...code.matchAll(/(?:call|quick|background)\(\s*"([a-z]+\.[A-Za-z.]+)"/g)].map(
    ([, name]) => name,
  );
  expect(said.length).toBeGreaterThan(5);
  expect(said.filter((name) => !methods.has(name ?? ""))).toEqual([]);
});

test("the metrics count the calls of exactly the methods that the code calls", () => {
  expect(SLACK_METHODS.toSorted()).toEqual(called.toSorted());
});

describe("a name shared with Slack", () => {
  const inputs: readonly string[] = [
    names.WORD_INPUT,
    names.VERDICT_INPUT,
    names.REASON_INPUT,
    names.TASK_INPUT,
    names.TASK_FIELD_INPUT,
    names.CHANNEL_INPUT,
    names.SAID_INPUT,
    names.TAKER_INPUT,
    names.SNOOZE_INPUT,
  ];

  test("of a button has a listener, and every listener has a button", () => {
    const buttons = [...emitted("action_id")].filter((name) => !inputs.includes(name));
    expect(buttons.toSorted()).toEqual(listenedTo().actions.toSorted());
  });

  test("of a modal has a listener, and every listener has a modal", () => {
    expect([...emitted("callback_id")].toSorted()).toEqual(listenedTo().views.toSorted());
  });

  test("is used once", () => {
    const all = Object.values(names).filter((each) => typeof each === "string");
    expect(new Set(all).size).toBe(all.length);
  });
});
