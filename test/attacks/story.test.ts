import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ana, aSharedWorld, aWorld, ben, opsAgents, type Stage } from "../make/world.ts";
import { policyFile } from "../make/policy.ts";
import { brakeCases, FREEZERS } from "./brake-cases.ts";
import { databaseCases } from "./database-cases.ts";
import { listingCases } from "./listing-cases.ts";
import { disputeCases } from "./dispute-cases.ts";
import { followed, type Followed, FOLLOWED, followUpCases } from "./follow-up-cases.ts";
import { rowsOf } from "./ground.ts";
import { queueCases } from "./queue-cases.ts";
import { restoreCases } from "./restore-cases.ts";
import { ruledCases, RULES } from "./ruled-cases.ts";
import type { Story } from "./classes.ts";
import { stageCases } from "./stage-cases.ts";
import { aStorm, type Storm, stormCases } from "./storm-cases.ts";
import { storyCases } from "./story-cases.ts";

/** `npm run backup` copies only files. PostgreSQL is copied by pg_dump, which leaves no mark. */
const ofFiles = process.env["TEST_STORE"] === "postgres" ? [] : restoreCases;

// Each attack has a world of its own: decisions are paced, as Slack requires, and some attacks restart the app.
describe.concurrent("while a decision is made", () => {
  test.for(
    [...storyCases, ...listingCases, ...disputeCases, ...databaseCases, ...ofFiles, ...queueCases].map(
      (each) => [each.id, each.what, each] as const,
    ),
  )("%s %s", async ([, , attack], context) => {
    const tampered = databaseCases.includes(attack);
    const world = await aWorld(context, { troubled: true, tampered });
    const due: string[] = [];
    await attack.run(await storyOf(world, due));
    await world.stopApp();
    expect(refusalsOf(world)).toEqual(expect.arrayContaining(due));
  });
});

// These attacks share a world: none has an effect, and the requests take half a minute to arrive.
describe("while many requests wait in a channel", () => {
  const stage = aSharedWorld({ troubled: true });
  const due: string[] = [];
  let storm: Storm | null = null;

  beforeAll(async () => {
    storm = await aStorm(await storyOf(stage(), due));
  });

  test.for(stormCases.map((each) => [each.id, each.what, each] as const))("%s %s", async ([, , attack]) => {
    if (storm === null) throw new Error("the storm was not started");
    await attack.run(storm);
    expect(refusalsOf(stage())).toEqual(expect.arrayContaining(due));
  });
});

// These attacks share a world: none has an effect.
describe("while someone looks at a request and has asked about it", () => {
  const file = policyFile(FOLLOWED, { onTestFinished: afterAll });
  const stage = aSharedWorld({ troubled: true, env: { POLICY_FILE: file.path } });
  const due: string[] = [];
  let on: Followed | null = null;

  beforeAll(async () => {
    on = await followed(await storyOf(stage(), due));
  });

  test.for(followUpCases.map((each) => [each.id, each.what, each] as const))(
    "%s %s",
    async ([, , attack]) => {
      if (on === null) throw new Error("the claimed request was not prepared");
      const isDue = (): boolean => due.every((each) => refusalsOf(stage()).includes(each));
      const isUnverified = (): boolean => refusalsOf(stage()).at(-1)?.endsWith(" unverified") === true;
      await attack.run(on);
      // The answer may come before the store has the entry. On a loaded machine, Slack may not say in time who presses; then they press
      // again.
      await stage().until(() => isDue() || isUnverified());
      if (!isDue()) await attack.run(on);
      await stage().until(isDue);
    },
  );
});

describe.concurrent("while a run is stopped, or everything is frozen", () => {
  test.for(brakeCases.map((each) => [each.id, each.what, each] as const))(
    "%s %s",
    async ([, , attack], context) => {
      const world = await aWorld(context, { troubled: true, env: { ADMINS: FREEZERS } });
      const due: string[] = [];
      await attack.run(await storyOf(world, due));
      await world.stopApp();
      expect(refusalsOf(world)).toEqual(expect.arrayContaining(due));
    },
  );
});

describe.concurrent("under a policy", () => {
  test.for([...ruledCases, ...stageCases].map((each) => [each.id, each.what, each] as const))(
    "%s %s",
    async ([, , attack], context) => {
      const file = policyFile(RULES, context);
      const world = await aWorld(context, {
        troubled: true,
        env: { POLICY_FILE: file.path },
      });
      const due: string[] = [];
      const story = await storyOf(world, due);
      await attack.run({ ...story, rules: (text) => file.write(text) });
      expect(story.decisions()).toEqual([]);
      await world.stopApp();
      expect(refusalsOf(world)).toEqual(expect.arrayContaining(due));
    },
  );
});

const TASK = "deploy billing-api to production";

async function storyOf(world: Stage, due: string[]): Promise<Story> {
  const { opening, card } = await world.asking(ana, opsAgents, TASK);
  const { id: run, approvals } = await world.runAt(TASK, ({ phase }) => phase === "awaiting_approval");
  return {
    world,
    opening,
    card,
    run,
    approval: approvals[0]?.id ?? "",
    refused: (because, user = ben) => void due.push(`${user} ${because}`),
    decisions: () =>
      world
        .decisionPosts()
        .filter(({ path }) => path.includes(run))
        .map(({ body }) => JSON.parse(body) as { decision: string; reason: string }),
  };
}

/** Returns the reasons of all refusals in the audit. */
function refusalsOf(world: Stage): string[] {
  return rowsOf(world, "select entry from audit where what = 'refused'")
    .map(({ entry }) => JSON.parse(String(entry)) as { by: { user: string }; refusal: string })
    .map(({ by, refusal }) => `${by.user} ${refusal}`);
}
