// An agent service whose one run asks for an approval with 8 MiB of hostile text, another one at each look. A process of its own,
// so that it takes nothing from the one that is measured. Its parent says which text.

import { createServer } from "node:http";

const MIB = 2 ** 20;
/** What the bot reads at most, less what stands around the text. */
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
