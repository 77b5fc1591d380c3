// The button that starts a suggested run. A press may reach any process, so a process knows no more of it than its database.

import { describe, expect, test } from "vitest";
import { onSuggestedRun, unknownCommand } from "#src/adapters/slack/free-text.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";
import { type Bench, createBench } from "../../make/bot.ts";
import { idOf } from "../../make/message-id.ts";
import { CHANNEL, REQUESTER, TEAM } from "../../make/run.ts";
import { expectMessage, objectsIn, textOf, wire } from "./blocks/oracle.ts";

const BY = { team: TEAM, user: REQUESTER, channel: CHANNEL };

/** A process on the bench's database. */
function aProcess({ store, flow }: Bench) {
  const answers: Message[] = [];
  const deps = {
    team: TEAM,
    command: "/agent",
    startRun: flow.startRun,
    noteRefusal: flow.noteRefusal,
    answerAt: async (_url: string, message: Message) => void answers.push(message),
    nonce: () => "N".repeat(22),
    macOf: (words: readonly string[]) => store.macOf(words),
  } as unknown as ListenerDeps;
  return {
    offer: (task: string) => unknownCommand(deps, BY, task, task.split(" ")[0] ?? ""),
    async press(value: string): Promise<string | null> {
      await onSuggestedRun(deps, {
        user: { id: BY.user },
        channel: { id: BY.channel },
        actions: [{ action_id: "run_suggested", value }],
        trigger_id: "1.2.x",
        response_url: "https://hooks.slack.com/actions/T0/1/x",
      });
      return idOf(answers.at(-1) ?? { text: "", blocks: [] });
    },
  };
}

/** With the nonce and the MAC, it fills the 2,000 characters of a button's value. */
const LONGEST = `deploy ${"x".repeat(1_442)}`;

const valueOf = ({ blocks }: Message): string => /"value":"([^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? "";

const tasksOf = async ({ store }: Bench): Promise<readonly string[]> =>
  (await store.list({ channels: [CHANNEL], only: "all", limit: 10 })).map(({ input }) => input);

describe("the button of a suggested run", () => {
  test.each([
    ["plain words", "deploy the docs"],
    ["several lines and what Slack writes as entities", 'deploy a & b\nto <here> "now".or.never 🚀 e\u0301'],
    ["as many characters as fit", LONGEST],
  ])("starts its run once, whichever processes get the presses: %s", async (_what, task) => {
    const bench = await createBench();
    const offer = aProcess(bench).offer(task);
    expectMessage(offer);
    expect(idOf(offer)).toBe("answer:did-you-mean-run");
    for (const presser of [aProcess(bench), aProcess(bench)])
      expect(await presser.press(valueOf(offer))).toBe("answer:suggestion-started");
    expect(await tasksOf(bench)).toEqual([task]);
  });

  test("is missing for a task that does not fit in it, and the answer gives the task back", async () => {
    const bench = await createBench();
    const task = `${LONGEST}x`;
    const offer = aProcess(bench).offer(task);
    expectMessage(offer);
    expect(idOf(offer)).toBe("answer:did-you-mean-long-run");
    expect(textOf(offer.blocks)).toContain(task);
    expect(objectsIn(wire(offer.blocks)).filter(({ type }) => type === "button")).toEqual([]);
  });
});
