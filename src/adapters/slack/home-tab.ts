// Publishes the Home tab when somebody opens it, presses Refresh, or turns a page of the queue on it. It shows when it was published.

import type { UserId } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import { type HomeRows, homeView, runForm } from "./blocks/home-view.ts";
import { linked } from "./links.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { HomeClickPayload } from "./payloads.ts";
import { queuePage } from "./queue.ts";
import { EVERYTHING, type QueueChoice } from "./queue-choice.ts";

/** The person's own runs. */
const MAX_ROWS = 10;

/** Never rejects: no caller waits for it, and after a failure Slack keeps the tab as it was published before. Idempotent. */
export async function showHome(
  deps: ListenerDeps,
  user: UserId,
  choice: QueueChoice = EVERYTHING,
): Promise<void> {
  try {
    const view = homeView(await rows(deps, user, choice), deps.clock.now());
    await deps.quick("views.publish", { user_id: user, view });
  } catch (error) {
    deps.log.warn({ error }, "could not publish a Home tab");
  }
}

async function rows(deps: ListenerDeps, user: UserId, choice: QueueChoice): Promise<HomeRows | null> {
  try {
    const { queue, own } = await deps.queries.home({ team: deps.team, user }, MAX_ROWS + 1);
    const [page, threads] = await Promise.all([
      queuePage(deps, user, queue, choice),
      Promise.all(own.slice(0, MAX_ROWS).map((run) => linked(deps, run))),
    ]);
    return { page, own: threads, moreOwn: own.length > MAX_ROWS };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not look up the runs of a Home tab");
    return null;
  }
}

export async function openFormFromHome(deps: ListenerDeps, { trigger_id }: HomeClickPayload): Promise<void> {
  try {
    await deps.quick("views.open", { trigger_id, view: runForm(deps.nonce(), true) });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not open the form from the Home tab");
  }
}
