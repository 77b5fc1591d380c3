import { expect, test } from "vitest";
import { drawHome } from "#src/adapters/slack/home-and-queue.ts";
import { EVERYTHING } from "#src/adapters/slack/queue-choice.ts";
import type { Run } from "#src/domain/run.ts";
import { aQueue } from "../../make/queue.ts";
import { APPROVER, aWatchedRun, CHANNEL, TEAM } from "../../make/run.ts";
import { quiet, someHomes } from "./some-homes.ts";

type Found = { readonly queue: object; readonly own: readonly Run[] };

test("a drawing of a Home tab that read its runs earlier is not published after a newer one", async () => {
  const { homes, clock } = someHomes();
  const published: string[] = [];
  const reads: PromiseWithResolvers<Found>[] = [];
  const deps = {
    team: TEAM,
    deployment: { name: "", runUrl: null },
    clock,
    log: quiet,
    homes,
    review: { valueFor: () => "x" },
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
  const queue = { ...aQueue([]), more: false, freezes: [], channels: new Set([CHANNEL]) };
  const found = (input: string) => ({ queue, own: [{ ...aWatchedRun(), input }] });
  homes.opened(APPROVER, EVERYTHING);
  const older = drawHome(deps, APPROVER, EVERYTHING);
  const newer = drawHome(deps, APPROVER, EVERYTHING);
  reads[1]?.resolve(found("as it is now"));
  await newer;
  reads[0]?.resolve(found("as it was"));
  await older;
  expect(published).toEqual(["newer"]);
});
