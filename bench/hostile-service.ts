// An agent service with one run, whose approvals contain hostile text or a hostile structure that changes at each poll. It runs as a
// separate process, so that it takes no time from the measured bot. The parent process chooses what it sends.

import { createServer } from "node:http";

const MIB = 2 ** 20;
/** The longest body that the bot reads, minus the JSON around the text. */
const BYTES = 8 * MIB - 4_096;

const many = (count: number, each: (at: number) => string): string =>
  Array.from({ length: count }, (_each, at) => each(at)).join(",");
const FIRST = '{"id":"apr_1","action":"@"';
const OPEN = FIRST.slice(0, -1);

/** Lists of approvals, as JSON. `@` is replaced by another number at each read. */
const SHAPES: Readonly<Record<string, () => string>> = {
  "1,500,000 empty records": () => `[${FIRST}},${many(1_500_000, () => "{}")}]`,
  "20,000 records with a name twice": () =>
    `[${FIRST}},${many(20_000, (at) => `{"id":"i${at}","action":"x","action":"y"}`)}]`,
  "1,900 records with a name twice": () =>
    `[${FIRST}},${many(1_900, (at) => `{"id":"i${at}","action":"x","action":"y"}`)}]`,
  "60,000 empty records": () => `[${FIRST}},${many(60_000, () => "{}")}]`,
  "300,000 names": () => `[${FIRST},${many(300_000, (at) => `"k${at}":"sk-${at}"`)}}]`,
  "300,000 names in a record": () => `[${FIRST},"o":{${many(300_000, (at) => `"k${at}":"sk-${at}"`)}}}]`,
  "9,900 names": () => `[${FIRST},${many(9_900, (at) => `"k${at}":"sk-${at}"`)}}]`,
  "2,900 names": () => `[${FIRST},${many(2_900, (at) => `"k${at}":"sk-${at}"`)}}]`,
  "2,000,000 numbers": () => `[${FIRST},"o":[${many(2_000_000, () => "1")}]}]`,
  "pictures as escapes": () => `[${OPEN} ${'\\ud83d\\ude00\\"\\n'.repeat(BYTES / 16 - 8)}"}]`,
  // Just short enough that all of it is drawn, because its characters are counted.
  "99,000 marks of a rare script": () => `[${OPEN} ${"\u2CEF".repeat(99_000)}"}]`,
  "9,900 numbers in 59 actions, in 14 requests": () => {
    const nested = `${'{"action":'.repeat(59)}[${many(9_900, () => "1")}]${"}".repeat(59)}`;
    return `[${many(14, (at) => `{"id":"i${at}","action":"@","o":${nested}}`)}]`;
  },
  "9,900 numbers": () => `[${FIRST},"o":[${many(9_900, () => "1")}]}]`,
};

let list: readonly string[] = [];
let looks = 0;

process.on("message", ({ part, shape }: { part?: string; shape?: string }) => {
  const ready = part ?? shape ?? "";
  const body = part === undefined ? SHAPES[ready]?.() : asAction(part);
  list = (body ?? "").split("@");
  process.send?.({ ready });
});

function asAction(part: string): string {
  const text = JSON.stringify(part).slice(1, -1);
  return `[{"id":"apr_1","action":"@ ${text.repeat(Math.floor(BYTES / Buffer.byteLength(text)))}","risk":"critical"}]`;
}

const server = createServer((request, response) => {
  const id = /\/runs\/([^/]+)$/.exec(request.url ?? "")?.[1];
  if (request.method !== "GET" || id === undefined) return void response.writeHead(404).end();
  looks += 1;
  process.send?.({ looks });
  const pending = list.join(String(looks));
  const status = pending === "" ? "running" : "awaiting_approval";
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    `{"id":${JSON.stringify(id)},"status":"${status}","pending_approvals":${pending === "" ? "[]" : pending}}`,
  );
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.send?.({ port: address.port });
});
process.on("disconnect", () => process.exit(0));
