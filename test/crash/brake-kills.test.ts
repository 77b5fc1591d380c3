// `kill -9` around a press of Stop, and around the freeze command, while an approval is held. Once the press is in the audit, the approval
// never leaves. If it is not, the card still shows the hold, so people see that nothing was stopped, and press again.

import { expect, test } from "vitest";
import { type Life, messagesOf, newLife } from "./life.ts";
import { policyFile } from "../make/policy.ts";
import { cardStateOf } from "../make/message-id.ts";
import { type Lane, startLane } from "./lane.ts";

const HELD = "rules:\n  - name: held\n    approvers: anyone\n    hold: 2s\n";
/** How long after the press the process dies (ms): from before the press is stored until after it is shown. Our choice. */
const KILLS = [0, 10, 60];
const ADMIN = "U0CAT";

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const cardOf = ({ world }: Lane, life: Life) =>
  messagesOf(world, life).find((each) => cardStateOf(each) !== null);

async function press({ world }: Lane, life: Life, person: string, action: string): Promise<void> {
  const message = messagesOf(world, life).find(({ blocks }) =>
    JSON.stringify(blocks).includes(`"${action}"`),
  );
  const block = message?.blocks.find((each) => JSON.stringify(each).includes(`"${action}"`));
  if (message === undefined) throw new Error(`there is no ${action}`);
  await world.slack.acts.click(
    person,
    { channel: message.channel, ts: message.ts },
    String(block?.block_id),
    action,
  );
}

/** Resolves once the life's approval is held. */
async function held(lane: Lane, life: Life): Promise<void> {
  const { acts, workspace } = lane.world.slack;
  await acts.command(life.requester, life.channel, "/agent", `run ${life.task}`);
  const until = (fits: () => boolean) => workspace.until(fits, { timeoutMs: 30_000 });
  await until(() => cardOf(lane, life) !== undefined);
  // A card is visible a moment before the app has Slack's answer. Until then, a press opens a window that says so; close it and try again.
  for (let isForm = false; !isForm;) {
    await press(lane, life, life.approver, "card_approve");
    await until(() => workspace.viewsOf(life.approver).length > 0);
    const [window] = workspace.viewsOf(life.approver);
    isForm = window?.view["callback_id"] === "decision_modal";
    if (!isForm) await acts.close(life.approver, String(window?.id));
  }
  const [form] = workspace.viewsOf(life.approver);
  await acts.submit(life.approver, String(form?.id), { reason: { reason_text: "checked" } });
  await until(() => cardStateOf(cardOf(lane, life) ?? { blocks: [] }) === "held");
}

const verdicts = ({ world }: Lane): string[] =>
  world.service.requests
    .all({ method: "POST", route: "decide" })
    .map(({ body }) => (JSON.parse(body ?? "{}") as { decision: string }).decision);

test.concurrent.for(KILLS)(
  "a press of Stop survives a kill %d ms later, or was never stored",
  { timeout: 120_000 },
  async (ms, context) => {
    const lane = await startLane({ POLICY_FILE: policyFile(HELD, context).path });
    context.onTestFinished(() => lane.stop());
    const life = newLife(lane.world, "stopped", "deploy", { verdict: "approve" });
    await held(lane, life);
    const pressed = press(lane, life, life.requester, "run_stop").catch(() => undefined);
    await later(ms);
    await lane.kill();
    await pressed;
    const stored = (await lane.entries()).includes("stopped");
    await lane.restart();
    await lane.quiet();
    expect(verdicts(lane)).toEqual([stored ? "deny" : "approve"]);
    expect(await lane.audit()).toMatchObject({ ok: true });
  },
);

test.concurrent.for(KILLS)(
  "a freeze survives a kill %d ms later, or was never stored",
  { timeout: 120_000 },
  async (ms, context) => {
    const lane = await startLane({ POLICY_FILE: policyFile(HELD, context).path, ADMINS: ADMIN });
    context.onTestFinished(() => lane.stop());
    const life = newLife(lane.world, "frozen", "deploy", { verdict: "approve" });
    await held(lane, life);
    const typed = lane.world.slack.acts
      .command(ADMIN, "C0OPSAGENTS", "/agent", "freeze everywhere")
      .catch(() => undefined);
    await later(ms);
    await lane.kill();
    await typed;
    const stored = (await lane.entries()).includes("frozen");
    await lane.restart();
    await lane.quiet();
    expect(verdicts(lane)).toEqual(stored ? [] : ["approve"]);
  },
);
