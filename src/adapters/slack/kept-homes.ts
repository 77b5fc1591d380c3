// Remembers in the database which Home tabs are open, so that they are kept up to date after a restart, and by the process that keeps each
// (live-homes.ts). Two processes that write at once may lose a tab. The one that opened it notices, and writes it again.

import { parsed, UserId } from "../../domain/ids.ts";
import { type Json, isList, isRecord } from "../../domain/json.ts";
import type { EventLog } from "../../ports.ts";
import type { DocumentStore } from "../../ports/store.ts";
import { decodeChoice, encodeChoice, type QueueChoice } from "./queue-choice.ts";

export type KeptHome = {
  readonly user: UserId;
  readonly choice: QueueChoice;
  /** When the tab stops counting as open (monotonic ms). */
  readonly until: number;
};

export type KeptHomes = {
  /** Resolves to the tabs, the one used last at the end. Never rejects: after a failure, the list is empty. */
  load(): Promise<readonly KeptHome[]>;
  /** Writes the tab soon. */
  keep(home: KeptHome): void;
  /** Resolves when everything is written, or could not be. */
  written(): Promise<void>;
};

const NAME = "open homes";

export function createKeptHomes(store: DocumentStore, log: EventLog, maxHomes: number): KeptHomes {
  const waiting = new Map<UserId, KeptHome>();
  let writing: Promise<void> | null = null;

  const read = async (): Promise<readonly KeptHome[]> => homesIn(await store.document(NAME));

  async function add(homes: readonly KeptHome[]): Promise<void> {
    const users = new Set(homes.map(({ user }) => user));
    const others = (await read()).filter(({ user }) => !users.has(user));
    const all = [...others, ...homes].toSorted((a, b) => a.until - b.until).slice(-maxHomes);
    await store.putDocument(
      NAME,
      all.map(({ user, choice, until }) => ({ user, choice: encodeChoice(choice), until })),
    );
  }

  async function write(): Promise<void> {
    while (waiting.size > 0) {
      const homes = [...waiting.values()];
      waiting.clear();
      try {
        await add(homes);
      } catch (error) {
        log.warn({ error }, "could not remember which Home tabs are open; some may stay out of date");
        // The next write includes them, except where the reader has used the tab again meanwhile.
        for (const home of homes) if (!waiting.has(home.user)) waiting.set(home.user, home);
        break;
      }
    }
    writing = null;
  }

  return {
    load: () =>
      read().catch((error: unknown) => {
        log.warn({ error }, "could not read which Home tabs were open; they stay old until people open them");
        return [];
      }),
    keep(home) {
      waiting.set(home.user, home);
      writing ??= write();
    },
    written: async () => void (await writing),
  };
}

/** Leaves out entries that we did not write. */
const homesIn = (document: Json): readonly KeptHome[] =>
  isList(document) ? document.flatMap((entry) => homeIn(entry)) : [];

function homeIn(entry: Json): KeptHome[] {
  if (!isRecord(entry)) return [];
  const user = parsed<UserId>(UserId, entry["user"]);
  const { choice, until } = entry;
  if (user === null || typeof choice !== "string" || typeof until !== "number") return [];
  return [{ user, choice: decodeChoice(choice), until }];
}
