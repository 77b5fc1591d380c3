// Look-ups when many people act at once. Slack answers about a hundred questions a minute about single people, and fewer about the
// channels of a person. Beyond that we ask for a whole list, which answers for all who wait. A list is asked for after the question that
// it answers, so its answers are as fresh as single ones.

import { parsed, UserId } from "../../domain/ids.ts";
import type { Clock } from "../../engine/clock.ts";
import { type SlackUser, slackUsers } from "./answers.ts";
import type { Call } from "./clients.ts";
import { type Limits, Pacer } from "./rate-limiter.ts";

/** Slack counts by the minute, and what arrives; we count what begins (ms). */
const MINUTE = 60_000 + 1_500;

/**
 * docs.slack.dev, rate limits: users.info is Tier 4, 100 or more a minute for the workspace. Of a burst the first ones ask by themselves
 * (our choice): a hundred calls at once take longer than the people who wait for them have.
 */
export const SINGLE_PEOPLE: Limits = [
  [
    { most: 90, within: MINUTE },
    { most: 20, within: 2_000 },
  ],
];
/** users.conversations is Tier 3, 50 or more a minute. */
export const CHANNELS_OF_PEOPLE: Limits = [[{ most: 42, within: MINUTE }]];
/** usergroups.users.list is Tier 2, 20 or more a minute. */
export const GROUPS: Limits = [[{ most: 18, within: MINUTE }]];
/** users.list is Tier 2. A second apart, so that more people share an answer. */
const LISTS: Limits = [
  [
    { most: 17, within: MINUTE },
    { most: 1, within: 1_000 },
  ],
];

/** Slack's most for one page of users.list. */
const PAGE = 1_000;
/** In a larger workspace those beyond are looked up one by one, as far as Slack allows. */
const MAX_PAGES = 3;

/** False: the next call of this kind would have to wait. True: it counts as begun. */
export function beginsNow(pacer: Pacer): boolean {
  if (pacer.queueBefore(0).ms > 0) return false;
  void pacer.waitForTurn(0, null);
  return true;
}

/** Everybody whom Slack lists, asked for after the call. Calls that come while one waits for its turn share it. */
export function createPeopleList(call: Call, clock: Clock) {
  const pacer = new Pacer(clock, LISTS);
  let next: Promise<ReadonlyMap<UserId, SlackUser>> | null = null;

  async function list(): Promise<ReadonlyMap<UserId, SlackUser>> {
    await pacer.waitForTurn(0, null);
    next = null;
    const found = new Map<UserId, SlackUser>();
    let cursor = "";
    for (let page = 0; page < MAX_PAGES; page += 1) {
      if (page > 0) await pacer.waitForTurn(0, null);
      const args = cursor === "" ? { limit: PAGE } : { limit: PAGE, cursor };
      const answer = slackUsers(await call("users.list", args));
      for (const user of answer.users) {
        const id = parsed(UserId, user.id);
        if (id !== null) found.set(id, user);
      }
      if (answer.next === "") return found;
      cursor = answer.next;
    }
    return found;
  }

  return (): Promise<ReadonlyMap<UserId, SlackUser>> => (next ??= list());
}
