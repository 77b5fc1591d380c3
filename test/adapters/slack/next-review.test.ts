// The forms with several requests, one after the other: each shows what the one before did not, and none is lost if Slack does not answer.

import { describe, expect, test } from "vitest";
import type { View } from "@slack/types";
import type { SubmitAnswer } from "#src/adapters/slack/form-answers.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import { QUEUE_REVIEW_RUN } from "#src/adapters/slack/names.ts";
import {
  onNextReviewSubmit,
  onReviewDenyReason,
  onReviewSeveral,
  onReviewSubmit,
} from "#src/adapters/slack/review-form.ts";
import { type Bench, createBench, failure } from "../../make/bot.ts";
import { idOf, saysInJson } from "../../make/message-id.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import { aPolicy } from "../../make/policy.ts";
import { aNonce, APPROVER, aRunId, CHANNEL, REQUESTER, TEAM } from "../../make/run.ts";

const BY = { team: TEAM, user: APPROVER };

const numbered = (nth: number): string => `apr_${String(nth).padStart(3, "0")}`;

/** A person with the forms of the requests of one run, numbered in the order of the queue. */
async function reviewing(many: number, idOfNth = numbered, rule: Partial<Rule> = {}) {
  const bench = await createBench();
  bench.policy = aPolicy(rule);
  const id = aRunId();
  const ids = Array.from({ length: many }, (_, at) => idOfNth(at + 1));
  bench.agents.pending.set(id, ids);
  await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
  await bench.clock.pass(1_000);
  const deps = listener(bench);
  const [approval] = (await bench.run(id)).approvals;
  const value = bench.flow.review.valueFor("run", BY, approval?.nonce ?? aNonce());
  await onReviewSeveral(deps, {
    user: { id: APPROVER, team_id: TEAM },
    view: { id: "V1" },
    actions: [{ action_id: QUEUE_REVIEW_RUN, value }],
    trigger_id: "1.2.x",
  } as unknown as Parameters<typeof onReviewSeveral>[1]);
  return { bench, deps, ids, agentRun: id };
}

type Shown = { view: View | null };

function listener(bench: Bench): ListenerDeps & Shown {
  const { review, submitReview } = bench.flow;
  const deps: Shown = { view: null };
  return Object.assign(deps, {
    team: TEAM,
    clock: bench.clock,
    review,
    submitReview,
    noteRefusal: () => Promise.resolve(),
    once: { act: async (_trigger: string, open: () => Promise<unknown>) => (await open(), "done") },
    quick: async (_method: string, { view }: { view: View }) => void (deps.view = view),
    log: { warn() {}, error() {} },
  }) as unknown as ListenerDeps & Shown;
}

const verdictBlocks = ({ view }: Shown): string[] =>
  (view?.blocks ?? []).flatMap(({ block_id = "" }) => (block_id.startsWith("verdict:") ? [block_id] : []));

/** The numbers of the requests that the form shows. */
async function shownIn({ bench, deps, ids }: Awaited<ReturnType<typeof reviewing>>): Promise<number[]> {
  const tickets = await Promise.all(
    verdictBlocks(deps).map((block) => bench.store.form(block.slice("verdict:".length) as never)),
  );
  return tickets.map((ticket) =>
    ticket === null || ticket === "changed" ? 0 : ids.indexOf(ticket.approval) + 1,
  );
}

const payloadOf = ({ view }: Shown, values: object = {}) =>
  ({
    user: { id: APPROVER },
    view: { private_metadata: view?.private_metadata ?? "", state: { values } },
  }) as unknown as Parameters<typeof onReviewSubmit>[1];

/** Submits the form with the first `decided` requests approved. The answer's window, if any, takes its place. */
async function submit(deps: ListenerDeps & Shown, decided: number, reason = ""): Promise<SubmitAnswer> {
  const verdicts = verdictBlocks(deps).map((block, at) => {
    const chosen = { selected_option: { value: at < decided ? "approve" : "leave" } };
    return [block, { verdict_chosen: chosen }];
  });
  const reasons = { reason_approve: { reason_text: { value: reason } }, reason_deny: { reason_text: {} } };
  const answer = await onReviewSubmit(deps, payloadOf(deps, { ...Object.fromEntries(verdicts), ...reasons }));
  if (answer !== undefined && "view" in answer) deps.view = answer.view;
  return answer;
}

async function goOn(deps: ListenerDeps & Shown): Promise<void> {
  const answer = await onNextReviewSubmit(deps, payloadOf(deps));
  if (answer !== undefined && "view" in answer) deps.view = answer.view;
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe("Review the next", () => {
  test("shows first what no form has shown, and then what was left", async () => {
    const person = await reviewing(40);
    expect(await shownIn(person)).toEqual(numbers(1, 20));
    await submit(person.deps, 5);
    expect(JSON.stringify(person.deps.view)).toContain("35 more wait for you");
    await goOn(person.deps);
    expect(await shownIn(person)).toEqual(numbers(21, 40));
    await submit(person.deps, 20);
    expect(JSON.stringify(person.deps.view)).toContain("15 more wait for you");
    await goOn(person.deps);
    expect(await shownIn(person)).toEqual(numbers(6, 20));
  });

  test("can be reached without a decision, and says that nothing is recorded", async () => {
    const person = await reviewing(40);
    await submit(person.deps, 0);
    expect(person.deps.view !== null && idOf(person.deps.view)).toBe("form:reviewed");
    expect(JSON.stringify(person.deps.view)).toContain("recorded nothing new");
    expect(JSON.stringify(person.deps.view)).toContain("40 more wait for you");
    await goOn(person.deps);
    expect(await shownIn(person)).toEqual(numbers(21, 40));
    expect(person.bench.agents.resolved).toEqual([]);
  });

  test("is not offered if a reason is typed and no request is chosen, so that the text stays", async () => {
    const person = await reviewing(40);
    const answer = await submit(person.deps, 0, "all fine");
    expect(saysInJson("error:nothing-chosen-but-typed", JSON.stringify(answer))).toBe(true);
  });

  test("is not offered for a form that shows all requests", async () => {
    const answer = await submit((await reviewing(20)).deps, 0);
    expect(saysInJson("error:nothing-chosen", JSON.stringify(answer))).toBe(true);
  });

  test("begins behind the last form, whatever has come, gone or changed", async () => {
    const person = await reviewing(40);
    const { bench, ids, agentRun } = person;
    const changed = { id: ids[19] ?? "", content: { action: "other" } };
    bench.agents.pending.set(agentRun, [...ids.slice(0, 10), changed, ...ids.slice(25), "apr_new"]);
    await submit(person.deps, 1);
    await bench.clock.pass(60_000);
    await goOn(person.deps);
    expect((await shownIn(person)).slice(0, 15)).toEqual(numbers(26, 40));
  });

  test("says that nothing more waits once the requests behind it are decided or gone, and not that the window is out of date", async () => {
    const person = await reviewing(21);
    await submit(person.deps, 20);
    person.bench.agents.pending.set(person.agentRun, []);
    await person.bench.clock.pass(60_000);
    await goOn(person.deps);
    expect(person.deps.view !== null && idOf(person.deps.view)).toBe("answer:nothing-more");
  });

  test("does not say so if Slack did not say whether the person may decide what is left", async () => {
    const person = await reviewing(25);
    await submit(person.deps, 20);
    person.bench.people.lookUp = () => Promise.reject(failure("timeout"));
    await goOn(person.deps);
    expect(person.deps.view !== null && idOf(person.deps.view)).toBe("refusal:unverified");
  });

  test("says so too if others must still approve the request by which the button names its group", async () => {
    const person = await reviewing(21, numbered, { needs: 2 });
    await submit(person.deps, 20, "fine");
    person.bench.agents.pending.set(person.agentRun, person.ids.slice(0, 20));
    await person.bench.clock.pass(60_000);
    await goOn(person.deps);
    expect(person.deps.view !== null && idOf(person.deps.view)).toBe("answer:nothing-more");
  });

  test("does not say so in a window that Countersign did not draw for this person", async () => {
    const person = await reviewing(21);
    person.deps.view = { private_metadata: "run value" } as View;
    await goOn(person.deps);
    expect(person.deps.view !== null && idOf(person.deps.view)).toBe("refusal:unknown");
  });

  test("begins with the first request in a window of an earlier version, which has no place", async () => {
    const person = await reviewing(40);
    await submit(person.deps, 20);
    const [, kind = "", value = ""] = person.deps.view?.private_metadata?.split(" ") ?? [];
    for (const metadata of [`${kind} ${value}`, `${aNonce()} ${kind} ${value} 20`]) {
      person.deps.view = { private_metadata: metadata } as View;
      await goOn(person.deps);
      expect(await shownIn(person)).toEqual(numbers(21, 40));
    }
  });

  test("keeps its place when an offered reason is filled in", async () => {
    const person = await reviewing(40);
    const { bench, deps } = person;
    bench.policy = aPolicy({ denyReasons: ["Not today"] });
    const carried = deps.view?.private_metadata;
    const values = Object.fromEntries(verdictBlocks(deps).map((block) => [block, {}]));
    deps.view = null;
    await onReviewDenyReason(deps, {
      user: { id: APPROVER },
      view: { id: "V1", hash: "1", private_metadata: carried, state: { values } },
      actions: [{ selected_option: { value: "Not today" } }],
    } as unknown as Parameters<typeof onReviewDenyReason>[1]);
    expect(deps.view).toMatchObject({ private_metadata: carried });
  });

  test("finds its place with ids of the greatest length, within Slack's limits", async () => {
    const person = await reviewing(22, (nth) => `${"💥".repeat(508)}  ${nth + 10}`);
    expect(person.deps.view?.private_metadata?.length).toBeLessThanOrEqual(3_000);
    await submit(person.deps, 0);
    await goOn(person.deps);
    expect(await shownIn(person)).toEqual([21, 22, ...numbers(1, 18)]);
  });
});
