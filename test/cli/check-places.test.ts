// The doctor looks up the ids of the configuration in Slack. A fault of an id is distinguished from a look-up that failed.

import { WebAPIPlatformError } from "@slack/web-api";
import { describe, expect, test } from "vitest";
import { type Answer, toPortError } from "#src/adapters/slack/clients.ts";
import { checkPlaces } from "#src/cli/doctor/check-places.ts";
import type { Finding } from "#src/cli/doctor/finding.ts";
import { ChannelId } from "#src/domain/ids.ts";
import { PortError } from "#src/ports.ts";
import { config, SOCKET } from "../make/config.ts";
import { aPolicy, these } from "../make/policy.ts";

type Asked = { readonly method: string; readonly id: string };
type Slack = (asked: Asked) => Answer;

const SLOW_DOWN = new PortError("Slack asks us to slow down", {
  applied: "no",
  retry: "later",
  code: "http_429",
});
const UNKNOWN = new PortError("Slack refused (user_not_found)", {
  applied: "no",
  retry: "never",
  code: "user_not_found",
});
const UNSEEN = new PortError("Countersign can't see this channel", {
  applied: "no",
  retry: "never",
  code: "channel_not_found",
});

const EXCEPTING = aPolicy({ except: { ...these([]), channels: [ChannelId("C0OPS")] } });

/** A Slack that knows everyone. */
const knowsAll: Slack = ({ method, id }) => {
  if (method === "usergroups.users.list") return { ok: true, users: ["U0ANA"] };
  if (method === "users.conversations") return { ok: true, channels: [{ id: "C0OPS" }] };
  if (method === "conversations.info") return { ok: true, channel: { id, is_member: true } };
  return { ok: true, user: { id, team_id: "T0" } };
};

const failing =
  (error: PortError, method: string, id?: string): Slack =>
  (asked) => {
    if (asked.method === method && (id ?? asked.id) === asked.id) throw error;
    return knowsAll(asked);
  };

async function found(
  slack: Slack,
  env: { readonly [name: string]: string },
  policy: Parameters<typeof checkPlaces>[1] = null,
): Promise<{ readonly findings: readonly Finding[]; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const findings = await checkPlaces(config({ ...SOCKET, ...env }), policy, (method, args) => {
    const named = args["user"] ?? args["usergroup"] ?? args["channel"];
    const id = typeof named === "string" ? named : "";
    asked.push({ method, id });
    return Promise.resolve({ method, id }).then(slack);
  });
  return { findings, asked };
}

const about = (findings: readonly Finding[], what: string): Finding[] =>
  findings.filter((finding) => finding.what === what);

describe.each([
  ["asks to slow down", SLOW_DOWN],
  ["does not answer", new PortError("Slack did not answer", { applied: "maybe", retry: "later", code: "x" })],
])("if Slack %s, the advice is not to change the id", (_why, error) => {
  test.each([
    ["Admins", { ADMINS: "U0ANA" }, "users.info", "U0ANA"],
    ["Approvers", { APPROVERS: "S0SRE" }, "usergroups.users.list", "S0SRE"],
    ["Audit channel", { AUDIT_CHANNEL: "C0OPS" }, "conversations.info", "C0OPS"],
  ])("of %s", async (what, env, method, id) => {
    const { findings } = await found(failing(error, method), env);
    expect(about(findings, what)).toMatchObject([
      { level: "wrong", says: `${id} could not be checked: ${error.message}` },
    ]);
    expect(about(findings, what)[0]?.todo).toMatch(/^Run the doctor again in a minute\./);
  });

  test("of a channel that a rule excepts", async () => {
    const { findings } = await found(failing(error, "conversations.info"), {}, EXCEPTING);
    expect(about(findings, "Policy")).toMatchObject([
      { level: "wrong", says: `C0OPS could not be checked: ${error.message}` },
    ]);
  });
});

test("if the app lacks a scope, the advice is to reinstall it, and the others' advice stays", async () => {
  const error = toPortError(new WebAPIPlatformError({ ok: false, error: "missing_scope" }));
  const slack: Slack = (asked) => {
    if (asked.method === "users.info") throw SLOW_DOWN;
    return failing(error, "usergroups.users.list")(asked);
  };
  const { findings } = await found(slack, { APPROVERS: "U0ANA,S0SRE,S0OPS" });
  const [slow, lacking, ...others] = about(findings, "Approvers");
  expect(slow?.says).toBe("U0ANA could not be checked: Slack asks us to slow down");
  expect(slow?.todo).toMatch(/^Run the doctor again in a minute\./);
  expect(lacking?.says).toBe(
    "S0SRE, S0OPS could not be checked: the Slack app lacks a scope; install it again from manifest.yml",
  );
  expect(lacking?.todo).toMatch(/reinstall the app to the workspace\.$/);
  expect(others).toEqual([]);
});

test("ids that Slack does not know are reported apart from those that could not be checked", async () => {
  const slack: Slack = (asked) => {
    if (asked.id === "U0GONE") throw UNKNOWN;
    return failing(SLOW_DOWN, "users.info", "U0BEN")(asked);
  };
  const { findings } = await found(slack, { ADMINS: "U0ANA,U0GONE,U0BEN" });
  expect(about(findings, "Admins").map(({ says }) => says)).toEqual([
    "U0GONE: Slack refused (user_not_found)",
    "U0BEN could not be checked: Slack asks us to slow down",
  ]);
});

test("the number of ids that were not looked up is reported, whatever was found about the others", async () => {
  const groups = Array.from({ length: 14 }, (_, nth) => `S0${nth}X`);
  const saysOf = async (slack: Slack): Promise<string[]> => {
    const { findings } = await found(slack, { APPROVERS: groups.join(",") });
    return about(findings, "Approvers").map(({ says }) => says);
  };
  const left = "; 4 more ids were not checked";
  const slow = failing(SLOW_DOWN, "usergroups.users.list", "S00X");
  const gone = failing(UNKNOWN, "usergroups.users.list", "S01X");
  const unchecked = `S00X could not be checked: ${SLOW_DOWN.message}`;
  expect(await saysOf(slow)).toEqual([`${unchecked}${left}`]);
  expect(await saysOf((asked) => (asked.id === "S00X" ? slow(asked) : gone(asked)))).toEqual([
    `S01X: ${UNKNOWN.message}${left}`,
    unchecked,
  ]);
});

test("an answer that cannot be read says nothing about the id", async () => {
  const { findings } = await found(
    (asked) => (asked.method === "users.info" ? { ok: true, user: 1 } : knowsAll(asked)),
    { ADMINS: "U0ANA" },
  );
  expect(about(findings, "Admins")[0]?.says).toBe(
    "U0ANA could not be checked: Slack's answer does not have the expected fields",
  );
});

test("at most ten groups are looked up, because the bot needs the rest of what Slack allows in a minute", async () => {
  const groups = Array.from({ length: 14 }, (_, nth) => `S0${nth}X`);
  const { findings, asked } = await found(knowsAll, { APPROVERS: ["U0ANA", ...groups].join(",") });
  expect(asked.filter(({ method }) => method === "usergroups.users.list")).toHaveLength(10);
  expect(about(findings, "Approvers")[0]?.says).toBe(
    "Slack knows all ids that are named there (11); 4 more ids were not checked",
  );
});

test.each([
  ["Slack knows those that were looked up", knowsAll, []],
  [
    "the app cannot see one that was looked up",
    failing(UNSEEN, "conversations.info", "C01"),
    ['C01: Countersign can\'t see this channel, and it is excepted by "deploy"'],
  ],
] as const)("the excepted channels that are not looked up are counted, if %s", async (_why, slack, says) => {
  const channels = Array.from({ length: 23 }, (_, nth) => ChannelId(`C0${nth}`));
  const policy = aPolicy({ name: "deploy", except: { ...these([]), channels } });
  const { findings, asked } = await found(slack, {}, policy);
  expect(asked.filter(({ method }) => method === "conversations.info")).toHaveLength(20);
  expect(about(findings, "Policy").map((finding) => finding.says)).toEqual([
    ...says,
    "3 more channels that rules except were not checked",
  ]);
});
