import { afterEach, beforeEach, expect, test } from "vitest";
import { createStage, HOSTILE, OPS, servePage } from "./stage.ts";

let stage: ReturnType<typeof createStage>;
let page: Awaited<ReturnType<typeof servePage>>;

beforeEach(async () => {
  stage = createStage();
  page = await servePage(stage.parts);
});
afterEach(() => page.close());

const panel = async (): Promise<string> => (await fetch(`${page.url}/as/U0ANA/${OPS}?panel=traffic`)).text();
const file = async (): Promise<Record<string, unknown>[]> =>
  (await (await fetch(`${page.url}/page/traffic.jsonl`)).text())
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const look = (n: number): unknown => stage.traffic.add("service", `GET /v1/agent/runs/run_${n} → 200`, {});

test("lines are in order, each with its time, the interval since the previous line, sender and receiver", async () => {
  stage.traffic.add("slack", "slash_commands", {});
  stage.traffic.add("app", "acknowledges slash_commands", {}, null, { ms: 12, answers: 1 });
  stage.traffic.add("service", "POST /v1/agent/runs → 201", {});
  const body = await panel();
  const ways = [...body.matchAll(/data-sides="(.*?)"/g)].map(([, sides]) => sides);
  expect(ways).toEqual(["Slack app", "app Slack", "app service"]);
  expect(body).toMatch(/>12:38:\d\d\.000</);
  expect(body).toContain("+1.0 s");
  expect(body).toContain("12 ms");
  expect(body).toContain('answers <a href="#line-1">line 1</a>');
});

test("names of people and channels are shown beside their ids everywhere", async () => {
  stage.traffic.add("app", "chat.postMessage", { args: { channel: OPS, text: "<@U0BEN> decides" } });
  const body = await panel();
  expect(body).toContain("C0OPSAGENTS<i data-name>#ops-agents</i>");
  expect(body).toContain("U0BEN<i data-name>Ben Okafor</i>");
  expect(body).toContain("#ops-agents · &lt;@U0BEN&gt; decides");
});

test("an unknown id, and text that looks like markup, stay unchanged", async () => {
  stage.traffic.add("app", "users.info", { args: { user: "U0NOBODY", text: HOSTILE } });
  const body = await panel();
  expect(body).toContain("&quot;U0NOBODY&quot;");
  expect(body).not.toContain("<script>alert");
});

test("successful polls in a row are grouped, and each can be seen", async () => {
  for (let n = 1; n <= 30; n += 1) look(n);
  stage.traffic.add("app", "chat.update", {});
  const body = await panel();
  expect(body).toContain("25 successful polls of runs");
  expect(body).toContain("5 successful polls of runs");
  expect(body).toContain("GET /v1/agent/runs/run_17 → 200");
});

test("a refused poll is not in the group", async () => {
  look(1);
  stage.traffic.add("service", "GET /v1/agent/runs/run_2 → 404", {}, "HTTP 404");
  expect(await panel()).not.toContain("polls of runs");
});

test("a call that took effect, but whose answer was lost, says so", async () => {
  stage.traffic.add("app", "chat.postMessage", {}, null, { ms: 3, lost: true });
  expect(await panel()).toContain("<strong data-why>the answer was lost</strong>");
});

test("hidden lines are counted, and the file has every line in full", async () => {
  for (let i = 0; i < 350; i += 1) stage.traffic.add("app", `call ${i}`, {});
  const long = "y".repeat(50_000);
  stage.traffic.add("app", "files.upload", { text: long });
  const body = await panel();
  expect(body).toContain("51 older lines are not shown here.");
  expect(body).toMatch(/… \d+ more characters\. Copy has them all\./);
  const lines = await file();
  expect(lines).toHaveLength(351);
  expect(lines.at(0)).toMatchObject({ number: 1, from: "app", to: "Slack", what: "call 0", refused: null });
  expect(lines.at(-1)).toMatchObject({ detail: { text: long } });
});
