// Loaded into a kept bot before the bot's own code, which knows nothing of it: when whoever started the bot is gone, however that
// came about, this end of the pipe closes, and the process ends at once.

import { Socket } from "node:net";

/** Where `startBot` puts the pipe. */
const PIPE = 3;

const line = new Socket({ fd: PIPE, readable: true, writable: false });
const end = (): void => void process.kill(process.pid, "SIGKILL");
line.once("end", end).once("error", end).resume();
// It must not keep a bot alive that has stopped by itself.
line.unref();
