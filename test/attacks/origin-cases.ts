// Payloads with a valid signature, or on our own socket, but for another app or workspace. Both modes must refuse them.

import { ana, ben, opsAgents, outsider } from "../make/world.ts";
import { type Attack, attacks } from "./classes.ts";
import type { Body, Expected, People } from "./people-cases.ts";

const APP: Pick<Expected, "because" | "says"> = { because: null, says: "answer:other-app" };
const TEAM: Pick<Expected, "because" | "says"> = { because: null, says: "answer:other-team" };

type Row = readonly [
  what: string,
  kind: "click" | "command" | "form",
  change: Body,
  told?: Pick<Expected, "because" | "says">,
  user?: string,
];

const foreign = { id: "T0ELSEWHERE", domain: "elsewhere" };

const ROWS: readonly Row[] = [
  ["a click for another app", "click", { api_app_id: "A0OTHER" }],
  ["a click for no app", "click", { api_app_id: undefined }],
  ["a click for two apps", "click", { api_app_id: ["A0COUNTERSIGN", "A0OTHER"] }],
  ["a click for an app id in another case", "click", { api_app_id: "a0countersign" }],
  ["a command for another app", "command", { api_app_id: "A0OTHER" }],
  ["a command for no app", "command", { api_app_id: "" }],
  ["a form for another app", "form", { api_app_id: "A0OTHER" }],
  ["a form for no app", "form", { api_app_id: null }],
  ["a click in another workspace", "click", { team: foreign }, TEAM],
  ["a click in no workspace", "click", { team: null }, TEAM],
  ["a member's click in a partner's workspace", "click", { team: { id: "T0PARTNER" } }, TEAM],
  [
    "a click in another organization",
    "click",
    { team: null, enterprise: { id: "E0OTHER" }, is_enterprise_install: true },
    TEAM,
  ],
  ["a command in another workspace", "command", { team_id: "T0ELSEWHERE" }, TEAM],
  ["a command in no workspace", "command", { team_id: undefined }, TEAM],
  ["a form in another workspace", "form", { team: foreign }, TEAM],
  [
    "an outsider's click in their own workspace: refused as an outsider's",
    "click",
    { team: { id: "T0PARTNER" }, user: { id: outsider, team_id: "T0PARTNER" } },
    { because: "outsider", says: "refusal:outsider" },
    outsider,
  ],
];

async function expectPayloadRefused(
  on: People,
  [, kind, change, told = APP, user = ben]: Row,
): Promise<void> {
  const { world } = on;
  const expected = { ...told, user };
  if (kind === "click") {
    const click = await on.click();
    return on.refused(() => world.deliver({ ...click, ...change }), expected);
  }
  if (kind === "command") {
    await world.command(ana, opsAgents, "help");
    const command = {
      ...world.lastPayload("slash_commands"),
      text: "run something",
      trigger_id: "1.2.forged",
    };
    return on.refused(() => world.deliverCommand(withoutUndefined({ ...command, ...change })), expected);
  }
  const { form } = on;
  const body = {
    type: "view_submission",
    user: { id: ben, team_id: "T0SANDBOX" },
    team: { id: "T0SANDBOX" },
    api_app_id: "A0COUNTERSIGN",
    trigger_id: "1.2.forged",
    view: { ...form.view, id: form.id, hash: form.hash, state: { values: {} } },
  };
  return on.refused(() => world.deliver({ ...body, ...change }), expected);
}

/** Removes undefined values, because a form on the wire would contain the word "undefined". */
function withoutUndefined(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

export const originCases = (from: number): readonly Attack<People>[] =>
  attacks(5, from, ROWS, expectPayloadRefused);
