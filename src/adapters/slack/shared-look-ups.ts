// Look-ups when many people act at once. Slack answers about a hundred look-ups of single people a minute. Beyond that, we fetch the list
// of everyone, which answers all waiting look-ups. The list is requested after these look-ups, so its answers are as fresh as single ones.

import { parsed, UserId } from "../../domain/ids.ts";
import type { Clock } from "../../engine/clock.ts";
import { type SlackUser, slackUser, slackUsers } from "./answers.ts";
import type { Call } from "./clients.ts";
import { beginsNow, LISTS_OF_PEOPLE, type Pacers, SINGLE_PEOPLE } from "./rate-limiter.ts";

/**
 * Looks up people one by one, or fetches the list of everyone when the rate limit for single look-ups is used up. A recent list answers
 * further look-ups.
 */
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
  return async (user, maxAgeMs) => everyone.recent(maxAgeMs)?.get(user) ?? asked(user, maxAgeMs);
}

/** Slack's limit for one page of users.list. */
const LIST_PAGE = 1_000;
/** In a larger workspace, people beyond these pages are looked up one by one, as fast as Slack allows. */
const MAX_LIST_PAGES = 3;

type Everyone = ReadonlyMap<UserId, SlackUser>;

/** `next` resolves to a list that is requested after the call. Callers share a request as long as it waits for its turn. */
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
    /** Returns the newest list if it was requested at most `maxAgeMs` ago, otherwise null. */
    recent: (maxAgeMs: number): Everyone | null =>
      newest !== null && monotonic() - newest.at <= maxAgeMs ? newest.found : null,
  };
}

// One call to Slack for all callers who ask the same thing at about the same time.

/** The most answers that are kept. The oldest are dropped first. */
const MAX_KEPT = 5_000;

type SharedAnswers<Key, Value> = {
  (key: Key, maxAgeMs: number): Promise<Value>;
  /** Whether a call with these arguments would share a call that has already begun. */
  readonly has: (key: Key, maxAgeMs: number) => boolean;
};

/** When the call began (monotonic). Null while it waits for its turn. */
type Began = { at: number | null };

/**
 * Shares one call among many callers. Each caller gets the answer of a call that began at most `maxAgeMs` ago, finished or not, or that
 * still waits for its turn: callers who come back because they waited for long must not make the queue longer. Ages are measured by the
 * monotonic clock, so setting the wall clock cannot make an old answer fresh. Failures are not kept.
 */
export function createSharedAnswers<Key, Value>(
  { monotonic }: Pick<Clock, "monotonic">,
  ask: (key: Key) => Promise<Value>,
  waitForTurn?: () => Promise<void>,
): SharedAnswers<Key, Value> {
  const kept = new Map<Key, { readonly call: Began; readonly answer: Promise<Value> }>();
  const ageOf = ({ at }: Began): number => (at === null ? 0 : monotonic() - at);
  const recent = (key: Key, maxAgeMs: number) => {
    const entry = kept.get(key);
    return entry !== undefined && ageOf(entry.call) <= maxAgeMs ? entry : null;
  };
  const answer = (key: Key, maxAgeMs: number): Promise<Value> => {
    const shared = recent(key, maxAgeMs);
    if (shared !== null) return shared.answer;
    const call: Began = { at: null };
    const begin = (): Promise<Value> => {
      call.at = monotonic();
      return ask(key);
    };
    const entry = { call, answer: waitForTurn === undefined ? begin() : waitForTurn().then(begin) };
    kept.delete(key);
    kept.set(key, entry);
    entry.answer.catch(() => kept.get(key) === entry && kept.delete(key));
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry.answer;
  };
  const has = (key: Key, maxAgeMs: number): boolean => (recent(key, maxAgeMs)?.call.at ?? null) !== null;
  return Object.assign(answer, { has });
}
