// An agent service with one run, whose approval holds 8 MiB of hostile text that changes at each poll. It runs as a process of its
// own, so that it takes no time from the bot that is measured. The parent process chooses the text.

import { createServer } from "node:http";

const MIB = 2 ** 20;
/** The longest body that the bot reads, minus the JSON around the text. */
const BYTES = 8 * MIB - 4_096;

let text = "";
let looks = 0;

process.on("message", (part: string) => {
  const bytes = Buffer.byteLength(JSON.stringify(part)) - 2;
  text = part.repeat(Math.floor(BYTES / bytes));
  process.send?.({ ready: part });
});

const server = createServer((request, response) => {
  const id = /\/runs\/([^/]+)$/.exec(request.url ?? "")?.[1];
  if (request.method !== "GET" || id === undefined) return void response.writeHead(404).end();
  looks += 1;
  process.send?.({ looks });
  const action = `${looks} ${text}`;
  const asked = text === "" ? [] : [{ id: "apr_1", action, risk: "critical" }];
  const status = asked.length === 0 ? "running" : "awaiting_approval";
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ id, status, pending_approvals: asked }));
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.send?.({ port: address.port });
});
process.on("disconnect", () => process.exit(0));
