// Plays one life for each case, several side by side. Judges them, and prints one line for each and one with the counts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Lane } from "../crash/lane.ts";
import { readCommandLine, wholeNumber } from "../make/command-line.ts";
import { type FaultCase, type SetUpFault, type Played, playLife } from "./play-life.ts";

type Campaign<Case extends FaultCase, Place extends Lane> = {
  /** The usage line of the command. */
  readonly usage: string;
  readonly cases: readonly Case[];
  /** Starts a lane. `file` is shared by the lane and its faults. */
  readonly start: (file: string, replicas: number) => Promise<Place>;
  readonly setUpFault: (lane: Place, each: Case, file: string) => SetUpFault;
};

/** Runs the campaign and exits. Exit code 1: an invariant was broken, or a fault never took effect. */
export async function runCampaign<Case extends FaultCase, Place extends Lane>(
  campaign: Campaign<Case, Place>,
): Promise<never> {
  const { only, lanes, replicas } = readArgs(campaign.usage);
  const cases = campaign.cases.filter(
    ({ name, alone = false }) => name.includes(only) && (replicas === 1 || !alone),
  );
  const counts = { lives: 0, broken: 0, unmet: 0, again: 0, unconfirmed: 0, resent: 0 };
  const startedAt = Date.now();
  const left = cases.values();
  await Promise.all(Array.from({ length: lanes }, () => work()));
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  console.log(
    `${counts.lives} lives: ${counts.broken} broken, ${counts.unmet} whose fault never took effect; ${counts.again} started again, ${counts.unconfirmed} decisions honestly unconfirmed, ${counts.resent} sent again with the same content; ${seconds} s`,
  );
  process.exit(counts.broken + counts.unmet === 0 && counts.lives > 0 ? 0 : 1);

  async function work(): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "faults-"));
    const file = join(folder, "shared");
    const lane = await campaign.start(file, replicas);
    const played: (readonly [string, Played])[] = [];
    for (const each of left) {
      const began = Date.now();
      const life = await playLife(lane, each, campaign.setUpFault(lane, each, file));
      console.log(`${each.name}: ${((Date.now() - began) / 1_000).toFixed(1)} s`);
      played.push([each.name, life]);
    }
    // What a bot does late, for an earlier life, is judged, too.
    await lane.quiet();
    for (const [name, life] of played) tally(name, life);
    const audit = await lane.audit();
    if (!audit.ok) broken(`the audit is damaged at entry ${audit.seq}: ${audit.fault}`);
    await lane.stop();
    rmSync(folder, { recursive: true });
  }

  function tally(name: string, { witness, life, struck, stuck }: Played): void {
    const verdict = witness.verdict();
    counts.lives += 1;
    counts.again += life.again;
    counts.unconfirmed += verdict.unconfirmed;
    counts.resent += verdict.resent;
    for (const what of stuck === null ? verdict.broken : [stuck, ...verdict.broken])
      broken(`${name}: ${what}`);
    if (struck) return;
    counts.unmet += 1;
    console.error(`${name}: the fault never took effect`);
  }

  function broken(what: string): void {
    counts.broken += 1;
    console.error(what);
  }
}

type Args = { readonly only: string; readonly lanes: number; readonly replicas: number };

function readArgs(usage: string): Args {
  const options = {
    only: { type: "string", default: "" },
    lanes: { type: "string", default: "2" },
    replicas: { type: "string", default: "1" },
  } as const;
  return readCommandLine(usage, options, ({ only, lanes, replicas }) => ({
    only,
    lanes: wholeNumber("--lanes", lanes),
    replicas: wholeNumber("--replicas", replicas),
  }));
}
