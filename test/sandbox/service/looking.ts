// Looking again until something is so, without a clock: each look lets all that is due happen first.

import { setImmediate } from "node:timers/promises";

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setImmediate();
}
