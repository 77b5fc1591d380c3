// A Bolt app that only connects, as a baseline for the start of Countersign.

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
