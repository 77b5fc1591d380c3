// A sandbox that runs for days does not keep every click in memory.

import { expect, test } from "vitest";
import { Refused } from "#sandbox/slack/errors.ts";
import { createTriggers } from "#sandbox/slack/triggers.ts";
import { ana, clientOf, lastTrigger, opsAgents, reasonModal, refusal, startFull } from "./bolt-app.ts";

const codeOf = (look: () => unknown): string => {
  try {
    look();
  } catch (error) {
    if (error instanceof Refused) return error.code;
    throw error;
  }
  return "fine";
};

test("an expired trigger is distinguished from an unknown one, until it is forgotten", () => {
  let time = 0;
  const triggers = createTriggers({ now: () => time, lifeMs: 3000 });
  const old = triggers.issue(ana);
  time = 60_000;
  const late = triggers.issue(ana);
  expect(codeOf(() => triggers.look(old))).toBe("expired_trigger_id");
  time = 11 * 60_000 - 1;
  const ids = Array.from({ length: 100 }, () => triggers.issue(ana));
  expect(codeOf(() => triggers.look(old))).toBe("invalid_trigger_id");
  expect(codeOf(() => triggers.look(late))).toBe("expired_trigger_id");
  expect(ids.map((id) => codeOf(() => triggers.look(id)))).toEqual(ids.map(() => "fine"));
  expect(new Set([old, late, ...ids]).size).toBe(102);
});

test("a response_url is forgotten after an hour, and so is the trigger of the same command", async () => {
  let time = 1_700_000_000_000;
  const slack = await startFull({ now: () => time });
  const command = async (): Promise<string> => {
    await slack.acts.command(ana, opsAgents, "/agent", "");
    const line = slack.traffic.lines().findLast(({ what }) => what === "slash_commands");
    return /"response_url":"([^"]+)"/.exec(JSON.stringify(line?.detail))?.[1] ?? "";
  };
  const answer = async (url: string): Promise<unknown> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: '{"text":"x"}' });
    return ((await response.json()) as { error?: string }).error;
  };
  const first = await command();
  const trigger = lastTrigger(slack, "slash_commands");
  time += 45 * 60_000;
  await command();
  expect(await answer(first)).toBe("expired_url");
  time += 16 * 60_000;
  const last = await command();
  expect([await answer(first), await answer(last)]).toEqual(["invalid_url", undefined]);
  const args = { trigger_id: trigger, view: reasonModal() };
  const refused = await refusal(clientOf(slack).apiCall("views.open", args));
  expect(refused["error"]).toBe("invalid_trigger_id");
  await slack.stop();
});
