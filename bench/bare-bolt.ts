// A Bolt app that does nothing but connect: what the start of Countersign is compared with.

import { createServer } from "node:http";
import bolt from "@slack/bolt";

const app = new bolt.App({
  token: process.env["SLACK_BOT_TOKEN"] ?? "",
  appToken: process.env["SLACK_APP_TOKEN"] ?? "",
  socketMode: true,
  clientOptions: { slackApiUrl: process.env["SLACK_API_URL"] ?? "" },
});
app.command("/agent", ({ ack }) => ack());
await app.start();
createServer((_, answer) => answer.end()).listen(Number(process.env["PORT"]), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
