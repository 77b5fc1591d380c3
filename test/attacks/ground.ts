// The state that must be the same after each attack: nothing more was sent to the service, and nothing that people see in channels has
// changed.

import { expect } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import type { Stage } from "../make/world.ts";

/** Returns everything visible that an attack could have changed. */
export function stateOf(world: Stage): unknown {
  const sent = world.service.requests.all({ method: "POST" }).map(({ path, body }) => ({ path, body }));
  const channels = world.slack.workspace.messages
    .filter(({ author }) => author === world.slack.workspace.app.person)
    .filter(({ ephemeralFor, channel }) => ephemeralFor === null && !channel.startsWith("D"))
    .map(({ channel, ts, text, blocks }) => ({ channel, ts, text, blocks }));
  return structuredClone({ sent, channels });
}

export type Row = { readonly [column: string]: unknown };

/** Returns rows of the database of the stopped app. */
export const rowsOf = (world: Stage, query: string): readonly Row[] => world.database.rows(query);

/** Returns whether a message in Slack is in the store, too. Until then, it is not ready. */
export const isStored = (world: Stage, { ts }: Message): boolean =>
  rowsOf(world, "select doc from runs").some(({ doc }) => String(doc).includes(ts));

/** Returns the stored runs, without the fields that a read from the service changes. */
export function storedRuns(world: Stage): unknown {
  const runs = rowsOf(world, "select doc from runs order by key").map(
    ({ doc }) => JSON.parse(String(doc)) as { approvals: unknown; creation: unknown; requester: unknown },
  );
  return runs.map(({ approvals, creation, requester }) => ({ approvals, creation, requester }));
}

export function expectNoWords(world: Stage, words: readonly string[]): void {
  const log = world.logged.join("\n");
  for (const each of words) expect(log).not.toContain(each);
}
