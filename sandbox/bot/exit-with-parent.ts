// Loaded into a bot of the sandbox before the bot's own code, which does not notice it. When the process that started the bot ends, for
// whatever reason, this end of the pipe closes and the bot exits at once. A line in the pipe says how far to set the bot's clock ahead of
// the machine's (ms), and a line back says that it has arrived there. `?ahead=` does the same at the start.

import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { beginAhead, onArrival, setAhead } from "./ahead-clock.ts";

beginAhead(Number(new URL(import.meta.url).searchParams.get("ahead") ?? 0));

/** The file descriptor of the pipe that `startBot` creates. */
const PIPE = 3;

const line = new Socket({ fd: PIPE, readable: true, writable: true });
const end = (): void => void process.kill(process.pid, "SIGKILL");
line.once("end", end).once("error", end);
createInterface(line).on("line", (ms) => setAhead(Number(ms)));
onArrival((ms) => line.write(`${ms}\n`));
// The pipe must not keep a bot alive that has stopped by itself.
line.unref();
