// A PostgreSQL primary with a synchronous standby, behind one address. When the primary dies, the standby takes over and gets its own
// standby.

import { mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "../make/postgres.ts";

export type CrashingServer = Pick<PostgresServer, "database" | "run" | "stop"> & {
  /** Crashes the primary. Resolves to a function that makes the standby take over. */
  crash(): Promise<() => Promise<void>>;
};

export async function startFailingOver(): Promise<CrashingServer> {
  const places = mkdtempSync(join(tmpdir(), "address-"));
  const address = join(places, "db");
  let primary = await startPostgres();
  let standby = await standbyOf(primary);
  leadTo(address, primary);
  return {
    database: async () => (await primary.database()).replace(/host=.*/, `host=${address}`),
    run: (...statement) => primary.run(...statement),
    async crash() {
      await primary.kill();
      return async () => {
        await standby.promote();
        leadTo(address, standby);
        await primary.stop();
        primary = standby;
        standby = await standbyOf(primary);
      };
    },
    async stop() {
      await standby.stop();
      await primary.stop();
      rmSync(places, { recursive: true });
    },
  };
}

/** Adds a synchronous standby: from now on, the primary acknowledges a commit only when the standby has it, too. */
async function standbyOf(primary: PostgresServer): Promise<PostgresServer> {
  const standby = await startPostgres({ standbyOf: primary });
  const url = `postgres://postgres@localhost:${primary.port}/postgres?host=${primary.folder}`;
  await primary.run(url, "alter system set synchronous_standby_names = '*'");
  await primary.run(url, "select pg_reload_conf()");
  return standby;
}

/** Points the address at a server in one step, so that it is never missing. */
function leadTo(address: string, { folder }: PostgresServer): void {
  symlinkSync(folder, `${address}.next`);
  renameSync(`${address}.next`, address);
}
