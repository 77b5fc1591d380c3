import type { Context } from "#src/domain/context.ts";
import type { ApprovalId } from "#src/domain/ids.ts";
import { requestOf } from "#src/domain/observe.ts";
import { contextOf } from "#src/domain/run-context.ts";
import type { Look } from "./simulated-service.ts";

/** One answer that was taken in. `listed`: the digest of each request; null where it did not tell, or not of all. */
export type Taken = {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly missing: boolean;
  readonly listed: ReadonlyMap<ApprovalId, string> | null;
};

/** What our side knows of the service, kept beside the core, as its judge. */
export class Learnt {
  /** By the process that lives now, in order. */
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
    const listed = pending !== null && unreadable.length === 0 ? this.asked : null;
    this.taken.push({ askedAt, answeredAt, missing: false, listed });
  }
}
