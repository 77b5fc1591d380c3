import type { RunKey } from "../core/ids.ts";
import type { Run } from "../core/run.ts";
import type { Alongside } from "./ports.ts";

/** What to make of a run, and what to write beside it. May be called several times, so it must not act. */
export type Apply = (run: Run) => Run | { readonly run: Run; readonly alongside: Alongside };

/**
 * Applies `apply` to the newest run and saves the result. Resolves to the run as it then is; null when there is none or when
 * another process holds its lease. Rejects with PortError when the store fails; then nothing was written.
 */
export type Change = (key: RunKey, apply: Apply, options?: { mustHold?: boolean }) => Promise<Run | null>;
