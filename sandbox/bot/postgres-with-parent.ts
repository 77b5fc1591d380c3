// A process between the sandbox and its PostgreSQL server. When the sandbox ends, for whatever reason, standard input closes. This process
// then stops the server and removes its folder.
//
// node postgres-with-parent.ts <folder to remove> <user and group id, or -> <program> <its arguments>

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";

/** A server that has not stopped after this time (ms) is stopped without a checkpoint. */
const PATIENCE_MS = 5_000;

const [folder = "", id = "-", program = "", ...args] = process.argv.slice(2);
const user = id === "-" ? {} : { uid: Number(id), gid: Number(id) };
const server = spawn(program, args, { cwd: "/", stdio: ["ignore", "ignore", "pipe"], ...user });
// The reader may have exited, so failed writes are ignored.
server.stderr.on("data", (text: Buffer) => process.stderr.write(text));
process.stderr.on("error", () => undefined);

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  // postgresql.org, "Shutting Down the Server": SIGINT disconnects all clients, SIGQUIT also skips the checkpoint.
  server.kill("SIGINT");
  setTimeout(() => void server.kill("SIGQUIT"), PATIENCE_MS).unref();
}
process.stdin.once("end", stop).once("error", stop).resume();
process.on("SIGTERM", stop);

function leave(code: number | null): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exit(stopping ? 0 : (code ?? 1));
}
server.once("exit", leave);
server.once("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  leave(1);
});
