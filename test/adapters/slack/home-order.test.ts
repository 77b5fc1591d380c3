import { expect, test } from "vitest";
import { drawHome, refreshHome } from "#src/adapters/slack/home-and-queue.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import { createLiveHomes } from "#src/adapters/slack/live-homes.ts";
import { encodeChoice, EVERYTHING, SHOW_MINE } from "#src/adapters/slack/queue-choice.ts";
import type { Run } from "#src/domain/run.ts";
import { aQueue } from "../../make/queue.ts";
import { createHandClock } from "../../make/clock.ts";
import { anApproval, APPROVER, aWatchedRun, CHANNEL, TEAM, withApprovals } from "../../make/run.ts";
import { aDocument, anAudit, quiet, someHomes, someProcesses } from "./some-homes.ts";

const PARTS = {
  team: TEAM,
  deployment: { name: "", runUrl: null },
  log: quiet,
  review: { valueFor: () => "x" },
};
const NOTHING_WAITS = { ...aQueue([]), more: false, freezes: [], channels: new Set([CHANNEL]) };

/** The queue of someone who may not decide it, so that nothing is theirs. */
const WAITS = withApprovals(aWatchedRun(undefined, { requester: APPROVER }), anApproval());

type Found = { readonly queue: object; readonly own: readonly Run[] };

test("a drawing of a Home tab that read its runs earlier is not published after a newer one", async () => {
  const { homes, clock } = someHomes();
  const published: string[] = [];
  const reads: PromiseWithResolvers<Found>[] = [];
  const deps = {
    ...PARTS,
    clock,
    homes,
    queries: {
      home: () => {
        const read = Promise.withResolvers<Found>();
        reads.push(read);
        return read.promise;
      },
    },
    quick: (_method: string, { view }: { readonly view: object }) => {
      published.push(JSON.stringify(view).includes("as it is now") ? "newer" : "older");
      return Promise.resolve({});
    },
  } as unknown as Parameters<typeof drawHome>[0];
  const found = (input: string) => ({ queue: NOTHING_WAITS, own: [{ ...aWatchedRun(), input }] });
  homes.opened(APPROVER, EVERYTHING);
  const older = drawHome(deps, APPROVER, EVERYTHING);
  const newer = drawHome(deps, APPROVER, EVERYTHING);
  reads[1]?.resolve(found("as it is now"));
  await newer;
  reads[0]?.resolve(found("as it was"));
  await older;
  expect(published).toEqual(["newer"]);
});

test("a tab whose runs take long to read is drawn although news keep coming", async () => {
  const clock = createHandClock();
  const parts = { documents: aDocument(), auditLog: anAudit(), holdsShard: () => true, log: quiet };
  const homes = createLiveHomes({ clock, ...parts, sharers: () => 1 }, (user, choice) => {
    void drawHome(deps, user, choice);
  });
  let published = 0;
  const deps = {
    ...PARTS,
    clock,
    homes,
    queries: {
      home: () =>
        new Promise((resolve) => void clock.after(5_000, () => resolve({ queue: NOTHING_WAITS, own: [] }))),
    },
    quick: () => {
      published += 1;
      return Promise.resolve({});
    },
  } as unknown as Parameters<typeof drawHome>[0];
  homes.opened(APPROVER, EVERYTHING);
  homes.drawn(APPROVER, new Set([CHANNEL]));
  for (let seconds = 0; seconds < 120; seconds += 1) {
    homes.changed(withApprovals(aWatchedRun(), anApproval()));
    await clock.pass(1_000);
  }
  expect(published).toBeGreaterThan(5);
});

test("Refresh draws and keeps the filter that the reader chose through another process a moment ago", async () => {
  const { processes, documents, clock } = someProcesses(2, () => 0);
  const [chooser, refresher] = processes.map(({ homes }) => homes);
  const published: string[] = [];
  const deps = {
    ...PARTS,
    clock,
    homes: refresher,
    queries: { home: async () => ({ queue: { ...NOTHING_WAITS, ...aQueue([WAITS]) }, own: [] }) },
    quick: async (_method: string, { view }: { readonly view: object }) => {
      published.push(JSON.stringify(view));
      return {};
    },
  } as unknown as ListenerDeps;
  const choice = { ...EVERYTHING, show: SHOW_MINE };
  refresher?.opened(APPROVER, EVERYTHING);
  await refresher?.written();
  await clock.pass(1_000);
  chooser?.opened(APPROVER, choice);
  await chooser?.written();
  await clock.pass(1_000);
  await refreshHome(deps, APPROVER);
  await refresher?.written();
  expect(published).toEqual([expect.stringContaining("with this filter")]);
  expect(await documents.document()).toMatchObject([{ choice: encodeChoice(choice) }]);
});
