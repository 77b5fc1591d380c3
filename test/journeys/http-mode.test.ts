import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { buttonsOf } from "../make/journey-sight.ts";
import { ana, ben, guest, opsAgents, type Stage, aWorld } from "../make/world.ts";

const TASK = "deploy billing-api to production";
const FORM = "application/x-www-form-urlencoded";

/** Posts a command with these headers, as Slack would send it. */
function post(world: Stage, body: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${world.url()}/slack/events`, {
    method: "POST",
    headers: { "content-type": FORM, ...headers },
    body,
  });
}

const commandBody = (world: Stage): string =>
  new URLSearchParams({
    command: "/agent",
    text: "run something nobody asked for",
    team_id: world.slack.workspace.team.id,
    user_id: ana,
    channel_id: opsAgents,
    trigger_id: "1.2.forged",
    response_url: `${world.slack.url}response/T0SANDBOX/forged`,
  }).toString();

function signedHeaders(secret: string, body: string, at: number): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  return { "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${signature}` };
}

describe.concurrent("over HTTP instead of a socket", () => {
  test("a run completes, from the command to its output", async (context) => {
    const world = await aWorld(context, { entrance: "http" });
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.isRefused(guest, card, "Approve", "guest");
    await world.decide(ben, card, "Approve", " over HTTP\n");
    await world.becomes(card, "approved");
    await world.saidIn(opening, "outcome:succeeded");
    expect(buttonsOf(card)).toEqual([]);
    expect(world.decisions()).toEqual([{ decision: "approve", reason: " over HTTP\n" }]);
  });

  test("a field error, a private answer and the form are returned in the acknowledgment", async (context) => {
    const world = await aWorld(context, { entrance: "http" });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Deny");
    await world.fillModal(ben, "  ");
    await world.told(ben, "refusal:reason-needed");
    await world.command(ana, opsAgents, "run");
    await world.told(ana, "command-refusal:empty-task");
    await world.command(ana, opsAgents, "");
    await world.modalOf(ana, "task");
    expect(world.decisions()).toEqual([]);
  });

  test.for([
    ["no signature", () => ({})],
    [
      "another secret's signature",
      (body: string) => signedHeaders("not-the-signing-secret", body, Date.now()),
    ],
    [
      "a signature of an hour ago",
      (body: string, right: string) => signedHeaders(right, body, Date.now() - 3_600_000),
    ],
    [
      "the signature of another body",
      (_: string, right: string) => signedHeaders(right, "another=body", Date.now()),
    ],
    [
      "a malformed signature",
      (body: string, right: string) => ({
        ...signedHeaders(right, body, Date.now()),
        "x-slack-signature": "v0=",
      }),
    ],
  ] as const)("a request with %s is refused with 401 and does nothing", async ([, headersOf], context) => {
    const world = await aWorld(context, { entrance: "http", troubled: true });
    const body = commandBody(world);
    const headers: Record<string, string> = headersOf(body, world.slack.signingSecret);
    const response = await post(world, body, headers);
    expect(response.status).toBe(401);
    // Anything that it had started would be posted before this answer.
    await world.command(ana, opsAgents, "help");
    await world.told(ana, "answer:help");
    expect(world.posted()).toEqual([]);
    expect(world.tasksSent()).toEqual([]);
  });

  test("a correctly signed request is processed, and answers go only to Slack's hosts", async (context) => {
    const world = await aWorld(context, { entrance: "http", troubled: true });
    const fields = new URLSearchParams(commandBody(world));
    fields.set("text", "help");
    fields.set("response_url", `${world.service.url.replace("127.0.0.1", "localhost")}/v1/health`);
    const body = fields.toString();
    const response = await post(world, body, signedHeaders(world.slack.signingSecret, body, Date.now()));
    expect(response.status).toBe(200);
    await world.run(ana, opsAgents, "just say hello");
    expect(world.service.requests.all().filter(({ path }) => path === "/v1/health")).toEqual([]);
  });

  test("other methods and other paths do not reach the Slack endpoint", async (context) => {
    const world = await aWorld(context, { entrance: "http" });
    expect((await fetch(`${world.url()}/slack/events`)).status).toBe(405);
    expect((await fetch(`${world.url()}/slack/install`, { method: "POST" })).status).toBe(404);
  });

  test("the app's own pages are served at the same port", async (context) => {
    const world = await aWorld(context, { entrance: "http" });
    expect((await fetch(`${world.url()}/readyz`)).status).toBe(200);
  });
});
