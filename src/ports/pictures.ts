// Pictures of figures, for people who would rather look at them.

import type { LookBack } from "../audit/look-back.ts";

/** `tz`: in which its days have their names. Resolves to a PNG. Rejects if it cannot be drawn. */
export type DrawLookBack = (lookBack: Pick<LookBack, "days">, tz: string) => Promise<Uint8Array>;
