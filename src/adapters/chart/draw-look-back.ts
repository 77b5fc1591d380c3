// Draws the picture of a week in a separate process, which gets only the figures. A fault in the native drawing library therefore does not
// end the bot, its memory is freed, and no decision waits while it draws.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { dayName } from "../../audit/look-back.ts";
import type { DrawLookBack } from "../../ports/notification.ts";

const PROGRAM = fileURLToPath(new URL("chart-process.ts", import.meta.url));
/** It takes about half a second (ms). */
const TIMEOUT_MS = 10_000;
/** The picture has about 30 kB. */
const MAX_BYTES = 2 * 1024 * 1024;

/** What the drawing process reads from its input. */
export type ChartFigures = readonly {
  readonly label: string;
  readonly approved: number;
  readonly denied: number;
  readonly expired: number;
}[];

export function createDrawLookBack(program = PROGRAM): DrawLookBack {
  return ({ days }, tz) => {
    const figures: ChartFigures = days.map((day) => {
      const { approved, denied, expired } = day;
      return { label: dayName(day, tz), approved, denied, expired };
    });
    return drawn(program, JSON.stringify(figures));
  };
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

function drawn(program: string, figures: string): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  // Without our environment: it holds tokens.
  const options = { env: {}, encoding: "buffer", timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES } as const;
  const child = execFile(process.execPath, [program], options, (error, picture) => {
    if (error !== null) reject(new Error("the chart could not be drawn", { cause: error }));
    else if (!picture.subarray(0, PNG.length).equals(PNG)) reject(new Error("the chart is no PNG"));
    else resolve(picture);
  });
  // The process may end before it has read everything.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(figures);
  return promise;
}
