// After a crash or the loss of a lease: every mark that a dead process left behind becomes the question it is. Did it happen or not?

import type { Context } from "./context.ts";
import type { Effect, Outcome } from "./effect.ts";
import { POST_LINGER_MS } from "./post.ts";
import type { Run } from "./run.ts";
import { settle } from "./settle.ts";

const LOST: Outcome = { is: "unsure", why: "Countersign stopped before the answer came" };

/** The same object when nothing was under way. */
export function recover(run: Run, ctx: Context, mine: (effect: Effect) => boolean = () => false): Run {
  const settled = underWay(run)
    .filter((effect) => !mine(effect))
    .reduce((next, effect) => settle(next, effect, LOST, ctx), run);
  return redrawLater(settled, ctx.monotonic);
}

/** The effects whose marks stand in the run. */
function underWay(run: Run): Effect[] {
  const posts = Object.entries(run.posts).filter(([, post]) => post.is === "sending");
  const uploads = Object.entries(run.uploads).filter(([, upload]) => upload.is === "sharing");
  const decisions = run.approvals.filter(
    ({ state }) => state.is === "decided" && state.delivery.is === "sending",
  );
  const tells = run.tells.filter(({ state }) => state === "sending");
  return [
    ...(run.creation.is === "sending" ? [{ do: "create-run" } as const] : []),
    ...posts.map(([slot]) => ({ do: "post", slot }) as const),
    ...uploads.map(([slot]) => ({ do: "share", slot }) as const),
    ...decisions.map(({ id }) => ({ do: "send-decision", approval: id }) as const),
    ...tells.map(({ id }) => ({ do: "tell", tell: id }) as const),
  ];
}

/** An update that was under way may come after ours: its message is drawn once more when none can come any more. */
function redrawLater(run: Run, now: number): Run {
  const uncertain = Object.entries(run.posts).flatMap(([slot, post]) =>
    post.is === "up" && post.shows === "" && post.sweepAt === null
      ? [[slot, { ...post, sweepAt: now + POST_LINGER_MS }] as const]
      : [],
  );
  return uncertain.length === 0 ? run : { ...run, posts: { ...run.posts, ...Object.fromEntries(uncertain) } };
}
