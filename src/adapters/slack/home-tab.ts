// Publishes the Home tab when somebody opens it or presses Refresh. It shows when it was published, and links each run to its
// thread.

import type { UserId } from "../../domain/ids.ts";
import { cardSlot, OPENING, type Run, type Slot } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import type { Linked } from "./blocks/command-answers.ts";
import { type HomeRows, homeView, runForm } from "./blocks/home-view.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { HomeClickPayload } from "./payloads.ts";

/** Rows of each list. With one block a row the view stays far below Slack's limit of 100 blocks. */
const MAX_ROWS = 10;

/** Never rejects: no caller waits for it, and after a failure Slack keeps the tab as it was published before. Idempotent. */
export async function showHome(deps: ListenerDeps, user: UserId): Promise<void> {
  try {
    const view = homeView(await rows(deps, user), deps.command, deps.clock.now());
    await deps.quick("views.publish", { user_id: user, view });
  } catch (error) {
    deps.log.warn({ error }, "could not publish a Home tab");
  }
}

async function rows(deps: ListenerDeps, user: UserId): Promise<HomeRows | null> {
  try {
    const { waiting, own } = await deps.queries.home(user, MAX_ROWS + 1);
    const [cards, threads] = await Promise.all([
      Promise.all(waiting.slice(0, MAX_ROWS).map((run) => linkedToCard(deps, run))),
      Promise.all(own.slice(0, MAX_ROWS).map((run) => linked(deps, run))),
    ]);
    return {
      waiting: cards,
      own: threads,
      moreWaiting: waiting.length > MAX_ROWS,
      moreOwn: own.length > MAX_ROWS,
    };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not look up the runs of a Home tab");
    return null;
  }
}

/** Links to the first pending card; the others are in the same thread. */
function linkedToCard(deps: ListenerDeps, run: Run): ReturnType<typeof linked> {
  const first = run.approvals.find(({ state }) => state.type === "pending");
  return first === undefined ? linked(deps, run) : linkedTo(deps, run, cardSlot(first.id), "open the card");
}

export async function openFormFromHome(deps: ListenerDeps, { trigger_id }: HomeClickPayload): Promise<void> {
  try {
    await deps.quick("views.open", { trigger_id, view: runForm(deps.nonce(), true) });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not open the form from the Home tab");
  }
}

/** With a link to the run's thread. */
export function linked(deps: Pick<ListenerDeps, "quick">, run: Run): Promise<Linked> {
  return linkedTo(deps, run, OPENING);
}

/** If Slack gives no link, the row is shown without one. */
async function linkedTo(
  { quick }: Pick<ListenerDeps, "quick">,
  run: Run,
  slot: Slot,
  linkWords?: string,
): Promise<Linked> {
  const post = run.posts[slot];
  if (post?.type !== "up") return { run, link: null };
  const message = { channel: run.channel, message_ts: post.ts };
  const found = await quick("chat.getPermalink", message).catch(() => ({ permalink: null }));
  const { permalink } = { permalink: null, ...found };
  return { run, link: typeof permalink === "string" ? permalink : null, ...(linkWords && { linkWords }) };
}
