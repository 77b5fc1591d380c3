// Waits for a condition without a clock: before each check, everything that is due happens.

import { setImmediate } from "node:timers/promises";

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setImmediate();
}
