// The Home tab is published when somebody opens it or presses Refresh: what it shows is as old as it says.

import type { UserId } from "../../domain/ids.ts";
import { cardSlot, type Run } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import { type HomeRows, homeView } from "./blocks/home-view.ts";
import { runForm } from "./blocks/run-form.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { linked, linkedTo } from "./permalinks.ts";
import type { HomeClickPayload } from "./payloads.ts";

/** Rows of each list. With two blocks a row it stays far below the 100 blocks of a view. */
const MOST = 10;

/** Never rejects: nobody waits for it, and Slack keeps what was published before. May be called at any time, again and again. */
export async function showHome(deps: ListenerDeps, user: UserId): Promise<void> {
  try {
    const view = homeView(await rows(deps, user), deps.command, deps.clock.now());
    await deps.quick("views.publish", { user_id: user, view });
  } catch (error) {
    deps.log.warn({ error }, "a Home tab could not be published");
  }
}

async function rows(deps: ListenerDeps, user: UserId): Promise<HomeRows | null> {
  try {
    const { waiting, own } = await deps.queries.home(user, MOST + 1);
    const [cards, threads] = await Promise.all([
      Promise.all(waiting.slice(0, MOST).map((run) => cardOf(deps, run))),
      Promise.all(own.slice(0, MOST).map((run) => linked(deps, run))),
    ]);
    return { waiting: cards, own: threads, moreWaiting: waiting.length > MOST, moreOwn: own.length > MOST };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "the runs of a Home tab could not be looked up");
    return null;
  }
}

/** The first card that waits; the others are in the same thread. */
function cardOf(deps: ListenerDeps, run: Run): ReturnType<typeof linked> {
  const first = run.approvals.find(({ state }) => state.type === "pending");
  return first === undefined ? linked(deps, run) : linkedTo(deps, run, cardSlot(first.id), "open the card");
}

export async function openFormFromHome(deps: ListenerDeps, { trigger_id }: HomeClickPayload): Promise<void> {
  try {
    await deps.quick("views.open", { trigger_id, view: runForm(deps.nonce(), true) });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "the form could not be opened from the Home tab");
  }
}
