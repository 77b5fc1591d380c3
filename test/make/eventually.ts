import { vi } from "vitest";

/** How long a busy machine may need (ms). Vitest's default is a second. */
const PATIENCE_MS = 20_000;

/** Repeats the check until it passes, and resolves to what it returns. `interval` is the pause between two tries (ms). */
export function eventually<T>(check: () => T | Promise<T>, interval = 50): Promise<T> {
  return vi.waitFor(check, { timeout: PATIENCE_MS, interval });
}
