// Publishes the Home tab when somebody opens it, presses Refresh, turns a page of the queue on it, or while it is open and something of
// it has changed. It shows when it was published.

import type { ChannelId, UserId } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import { type HomeRows, homeView, runForm } from "./blocks/home-view.ts";
import { linked } from "./own-messages.ts";
import type { LiveHomes } from "./live-homes.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { HomeClickPayload } from "./payloads.ts";
import { queuePage } from "./queue.ts";
import { EVERYTHING, type QueueChoice } from "./queue-choice.ts";

/** The person's own runs. */
const MAX_ROWS = 10;

/** The reader opens the tab, or has done something there. Never rejects. */
export async function showHome(
  deps: ListenerDeps,
  user: UserId,
  choice: QueueChoice = EVERYTHING,
): Promise<void> {
  deps.homes.opened(user, choice);
  await drawHome(deps, user, choice);
}

/** As they last had it. */
export const refreshHome = (deps: ListenerDeps, user: UserId): Promise<void> =>
  showHome(deps, user, deps.homes.choiceOf(user));

type Drawing = Omit<ListenerDeps, "homes"> & { readonly homes: Pick<LiveHomes, "drawn" | "failed"> };

/** Never rejects: after a failure Slack keeps the tab as it was published before, and it is drawn again soon. Idempotent. */
export async function drawHome(deps: Drawing, user: UserId, choice: QueueChoice): Promise<void> {
  try {
    const found = await rows(deps, user, choice);
    await deps.quick("views.publish", {
      user_id: user,
      view: homeView(found?.rows ?? null, deps.clock.now()),
    });
    if (found === null) deps.homes.failed(user);
    else deps.homes.drawn(user, found.channels);
  } catch (error) {
    deps.log.warn({ error }, "could not publish a Home tab");
    deps.homes.failed(user);
  }
}

type Found = { readonly rows: HomeRows; readonly channels: ReadonlySet<ChannelId> };

async function rows(deps: Drawing, user: UserId, choice: QueueChoice): Promise<Found | null> {
  try {
    const { queue, own } = await deps.queries.home({ team: deps.team, user }, MAX_ROWS + 1);
    const [page, threads] = await Promise.all([
      queuePage(deps, user, queue, choice),
      Promise.all(own.slice(0, MAX_ROWS).map((run) => linked(deps, run))),
    ]);
    return { rows: { page, own: threads, moreOwn: own.length > MAX_ROWS }, channels: queue.channels };
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
