import type { ServerResponse } from "node:http";
import { createDiffer } from "./regions.ts";
import type { Lists } from "./regions.ts";

/** Changes come in bursts; one look per this time is enough for an eye and keeps 500 messages cheap. */
const GATHER_MS = 30;

/** Server-Sent Events for one tab. Nothing is drawn while the tab has not taken what it was sent. */
export function stream(
  res: ServerResponse,
  look: () => Lists,
  onChange: (listener: () => void) => () => void,
): void {
  const differ = createDiffer();
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    timer = undefined;
    if (res.writableNeedDrain) return;
    const patches = differ(look());
    if (patches.length > 0) res.write(`data: ${JSON.stringify(patches)}\n\n`);
  };
  const soon = (): void => {
    timer ??= setTimeout(send, GATHER_MS);
  };
  res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  res.write("retry: 500\n\n");
  res.on("drain", soon);
  const stop = onChange(soon);
  res.on("close", () => {
    stop();
    clearTimeout(timer);
  });
  send();
}
