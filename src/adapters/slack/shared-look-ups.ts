// Many people who act at once. Slack answers about a hundred questions a minute about single people. Beyond that we ask for a whole list,
// which answers for all who wait. A list is asked for after the question that it answers, so its answers are as fresh as single ones.

import { parsed, UserId } from "../../domain/ids.ts";
import type { Clock } from "../../engine/clock.ts";
import { type SlackUser, slackUser, slackUsers } from "./answers.ts";
import type { Call } from "./clients.ts";
import { beginsNow, LISTS_OF_PEOPLE, type Pacers, SINGLE_PEOPLE } from "./rate-limiter.ts";

/** One question for each person; when Slack would answer no more of those, one for everyone. A list answers as long as it is young. */
export function createUserLookUp(
  call: Call,
  pacers: Pick<Pacers, "make">,
  clock: Clock,
): (user: UserId, maxAgeMs: number) => Promise<SlackUser> {
  const single = pacers.make(SINGLE_PEOPLE);
  const everyone = createPeopleList(call, pacers, clock);
  const asked = createSharedAnswers(clock, async (user: UserId) => {
    if (beginsNow(single)) return slackUser(await call("users.info", { user }));
    const listed = (await everyone.next()).get(user);
    if (listed !== undefined) return listed;
    await single.waitForTurn(0, null);
    return slackUser(await call("users.info", { user }));
  });
  return async (user, maxAgeMs) => everyone.young(maxAgeMs)?.get(user) ?? asked(user, maxAgeMs);
}

/** Slack's most for one page of users.list. */
const LIST_PAGE = 1_000;
/** In a larger workspace those beyond are looked up one by one, as far as Slack allows. */
const MAX_LIST_PAGES = 3;

type Everyone = ReadonlyMap<UserId, SlackUser>;

/** `next`: all that Slack lists, asked for after the call. Calls that come while one waits for its turn share it. */
function createPeopleList(call: Call, pacers: Pick<Pacers, "make">, { monotonic }: Pick<Clock, "monotonic">) {
  const pacer = pacers.make(LISTS_OF_PEOPLE);
  let next: Promise<Everyone> | null = null;
  let newest: { readonly at: number; readonly found: Everyone } | null = null;

  async function list(): Promise<Everyone> {
    await pacer.waitForTurn(0, null);
    next = null;
    const at = monotonic();
    const found = await readPages();
    if (newest === null || newest.at < at) newest = { at, found };
    return found;
  }

  async function readPages(): Promise<Everyone> {
    const found = new Map<UserId, SlackUser>();
    let cursor = "";
    for (let page = 0; page < MAX_LIST_PAGES; page += 1) {
      if (page > 0) await pacer.waitForTurn(0, null);
      const args = cursor === "" ? { limit: LIST_PAGE } : { limit: LIST_PAGE, cursor };
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

  return {
    next: (): Promise<Everyone> => (next ??= list()),
    /** The newest list, if it was asked for at most so long ago. */
    young: (maxAgeMs: number): Everyone | null =>
      newest !== null && monotonic() - newest.at <= maxAgeMs ? newest.found : null,
  };
}

// One call to Slack for all who ask the same at about the same time.

/** The oldest answers go when there are more than this. */
const MAX_KEPT = 5_000;

type SharedAnswers<Key, Value> = {
  (key: Key, maxAgeMs: number): Promise<Value>;
  /** Would it share a call that has begun already? */
  readonly has: (key: Key, maxAgeMs: number) => boolean;
};

/**
 * Shares one call among many callers: each gets the answer of a call that began at most `maxAgeMs` ago, finished or not. Ages are
 * measured by the monotonic clock, so no step of the wall clock makes an old answer fresh. Failures are not kept.
 */
export function createSharedAnswers<Key, Value>(
  { monotonic }: Pick<Clock, "monotonic">,
  ask: (key: Key) => Promise<Value>,
): SharedAnswers<Key, Value> {
  const kept = new Map<Key, { readonly at: number; readonly answer: Promise<Value> }>();
  const young = (key: Key, maxAgeMs: number): Promise<Value> | null => {
    const known = kept.get(key);
    return known !== undefined && monotonic() - known.at <= maxAgeMs ? known.answer : null;
  };
  const answer = (key: Key, maxAgeMs: number): Promise<Value> => {
    const known = young(key, maxAgeMs);
    if (known !== null) return known;
    const entry = { at: monotonic(), answer: ask(key) };
    kept.delete(key);
    kept.set(key, entry);
    entry.answer.catch(() => kept.get(key) === entry && kept.delete(key));
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry.answer;
  };
  return Object.assign(answer, { has: (key: Key, maxAgeMs: number) => young(key, maxAgeMs) !== null });
}
