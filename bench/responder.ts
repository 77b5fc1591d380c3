// The cheapest possible service: it answers every `GET …/runs/<id>` with the same run of about 318 bytes under that id, and reads nothing
// else of the request. It runs as a separate process, so that it takes no time from the measured process.
//
// node responder.ts [<how long it takes to answer (ms)>]. Sends its port to the parent process and, after any message from it, how many
// answers it has given.

import { createServer } from "node:net";

const ANSWER_MS = Number(process.argv[2] ?? 0);
const END = "\r\n\r\n";
const [before, after] = JSON.stringify({
  id: "?",
  status: "running",
  created_at: "2026-11-20T12:00:00.000Z",
  input: "Rotate the staging certificates, then tell the on-call person which hosts were done. ".repeat(2),
  model: "agent-large-2026-10",
  usage: { input_tokens: 1234, output_tokens: 567 },
}).split("?");

let answered = 0;
const server = createServer((socket) => {
  let waiting = "";
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    waiting += chunk.toString("latin1");
    let answers = "";
    for (let end = waiting.indexOf(END); end >= 0; end = waiting.indexOf(END)) {
      const from = waiting.indexOf("/runs/") + "/runs/".length;
      const body = `${before}${waiting.slice(from, waiting.indexOf(" ", from))}${after}`;
      answers += `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}${END}${body}`;
      waiting = waiting.slice(end + END.length);
      answered += 1;
    }
    if (answers === "") return;
    if (ANSWER_MS === 0) socket.write(answers, "latin1");
    else setTimeout(() => socket.write(answers, "latin1"), ANSWER_MS);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.send?.(address.port);
});
process.on("message", () => process.send?.(answered));
process.on("disconnect", () => process.exit(0));
