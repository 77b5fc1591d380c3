// Loaded into a bot before it starts. Its wall clock differs from the machine's by what the file CLOCK_FILE says (ms). Its monotonic clock
// and its timers are not affected, as on a machine whose clock was set.

import { readFileSync } from "node:fs";

const LOOK_MS = 100;
const real = Date.now;
const RealDate = Date;
const file = process.env["CLOCK_FILE"] ?? "";
let ahead = 0;
setInterval(() => {
  ahead = Number(readFileSync(file, "utf8")) || 0;
}, LOOK_MS).unref();

const now = (): number => real() + ahead;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: readonly unknown[]) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args) as Date,
  get: (target, name) => (name === "now" ? now : (Reflect.get(target, name) as unknown)),
});
