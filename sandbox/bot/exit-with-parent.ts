// Loaded into a kept bot before the bot's own code, which does not know of it. When the process that started the bot ends, in whatever
// way, this end of the pipe closes and the bot exits at once.

import { Socket } from "node:net";

/** Where `startBot` puts the pipe. */
const PIPE = 3;

const line = new Socket({ fd: PIPE, readable: true, writable: false });
const end = (): void => void process.kill(process.pid, "SIGKILL");
line.once("end", end).once("error", end).resume();
// The pipe must not keep a bot alive that has stopped by itself.
line.unref();
