// Home tabs that are open, with a clock, a database and an audit that a test moves by hand.

import { createLiveHomes } from "#src/adapters/slack/live-homes.ts";
import { EVERYTHING, SHOW_MINE } from "#src/adapters/slack/queue-choice.ts";
import type { UserId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { createHandClock } from "../../make/clock.ts";
import { anApproval, aWatchedRun, CHANNEL, withApprovals } from "../../make/run.ts";

const MINE = { ...EVERYTHING, show: SHOW_MINE };

export const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export function aDocument() {
  let stored: Json = null;
  const documents = {
    failures: 0,
    document: async () => stored,
    putDocument: async (_name: string, value: Json) => {
      documents.failures -= 1;
      if (documents.failures >= 0) throw new Error("the database does not answer");
      stored = value;
    },
  };
  return documents;
}

/** An audit in which only the number of the newest entry is of interest. */
export function anAudit() {
  const audit = {
    seq: 1,
    isDown: false,
    auditHead: async () => {
      if (audit.isDown) throw new Error("the database does not answer");
      return { seq: audit.seq, link: "" };
    },
  };
  return audit;
}

type Shared = {
  readonly documents?: ReturnType<typeof aDocument>;
  readonly clock?: ReturnType<typeof createHandClock>;
  readonly sharers?: number;
  readonly auditLog?: ReturnType<typeof anAudit>;
  readonly holdsShard?: (shard: number) => boolean;
};

export function someHomes({
  documents = aDocument(),
  clock = createHandClock(),
  sharers = 1,
  auditLog = anAudit(),
  holdsShard = () => true,
}: Shared = {}) {
  const draws: { readonly user: string; readonly show: string; readonly at: number }[] = [];
  const start = clock.monotonic();
  const homes = createLiveHomes(
    { clock, documents, auditLog, holdsShard, log: quiet, sharers: () => sharers },
    (user, { show }) => {
      draws.push({ user, show, at: clock.monotonic() - start });
      homes.drawn(user, new Set([CHANNEL]));
    },
  );
  const open = (user: UserId, channels = [CHANNEL]): void => {
    homes.opened(user, MINE);
    homes.drawn(user, new Set(channels));
  };
  return { clock, draws, homes, open };
}

/** Passes the seconds, and looks for changes by others before each. */
export const seconds = async (
  count: number,
  { clock, homes }: Pick<ReturnType<typeof someHomes>, "clock" | "homes">,
): Promise<void> => {
  for (let at = 0; at < count; at += 1) {
    await homes.refresh();
    await clock.pass(1_000);
  }
};

/** Processes that share everything but their shards. `holder` says which one holds the shard of a reader. */
export function someProcesses(count: number, holder: (shard: number) => number, documents = aDocument()) {
  const shared = { documents, clock: createHandClock(), auditLog: anAudit(), sharers: count };
  const processes = Array.from({ length: count }, (_, nth) =>
    someHomes({ ...shared, holdsShard: (shard) => holder(shard) === nth }),
  );
  return {
    ...shared,
    processes,
    drawn: (): readonly number[] => processes.map(({ draws }) => draws.length),
    pass: async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1) {
        for (const { homes } of processes) await homes.refresh();
        await shared.clock.pass(1_000);
      }
    },
  };
}

export const aChange = () => withApprovals(aWatchedRun(), anApproval());
