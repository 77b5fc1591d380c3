import type { Context } from "#src/domain/context.ts";
import type { ApprovalId } from "#src/domain/ids.ts";
import { requestOf } from "#src/domain/observe.ts";
import { contextOf } from "#src/domain/run-context.ts";
import type { Look } from "./simulated-service.ts";

/**
 * One answer that was taken in. `listed`: the digest of each request, or "unreadable". Null if the answer did not list
 * the requests, or not all of their ids.
 */
export type Taken = {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly missing: boolean;
  readonly listed: ReadonlyMap<ApprovalId, string> | null;
};

/** What our side knows about the service. It is kept outside the core, to judge the core by it. */
export class Learnt {
  /** The answers that the current process took in, in order. */
  readonly taken: Taken[] = [];
  /** The digest of each request in the newest answer, by the service's id. */
  asked: ReadonlyMap<ApprovalId, string> = new Map();

  note(fetched: Look, ctx: Context): void {
    const answeredAt = ctx.monotonic;
    if (fetched.type === "missing") {
      this.asked = new Map();
      this.taken.push({ askedAt: fetched.askedAt, answeredAt, missing: true, listed: null });
      return;
    }
    const { id, pending, unreadable, askedAt } = fetched.snapshot;
    const context = contextOf(null, fetched.snapshot, ctx);
    this.asked = new Map((pending ?? []).map((item) => [item.id, requestOf(id, item, ctx, context).digest]));
    const named = unreadable.flatMap(({ ids }) => ids.map((id) => [id, "unreadable"] as const));
    const isListed = pending !== null && named.length === unreadable.length;
    const listed = isListed ? new Map([...this.asked, ...named]) : null;
    this.taken.push({ askedAt, answeredAt, missing: false, listed });
  }
}
