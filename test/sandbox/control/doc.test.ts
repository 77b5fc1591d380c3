import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type Controlled, HEADERS, startControlled } from "./controlled.ts";

const doc = readFileSync(new URL("../../../docs/development/sandbox-control.md", import.meta.url), "utf8");

const Argument = z.object({ description: z.string().optional(), enum: z.array(z.unknown()).optional() });
const Schema = z.object({
  properties: z.record(z.string(), Argument).default({}),
  required: z.array(z.string()).default([]),
});
const Listing = z.object({
  acts: z.array(z.object({ name: z.string(), what: z.string(), args: Schema })),
  reads: z.array(z.object({ path: z.string(), what: z.string(), query: Schema })),
});

let sandbox: Controlled;
let listing: z.infer<typeof Listing>;

beforeAll(async () => {
  sandbox = await startControlled({ bot: { env: { LOG_LEVEL: "silent" } } });
  listing = Listing.parse((await sandbox.send("/control")).body);
});
afterAll(() => sandbox.stop());

/** Returns each argument by name with its meaning or its choices, and `?` if it is optional. A long list has only names. */
function argumentsOf({ properties, required }: z.infer<typeof Schema>): string {
  const all = Object.entries(properties);
  if (all.length > 12) return `any of ${all.map(([name]) => `\`${name}\``).join(", ")}`;
  const said = all.map(([name, { description, enum: choices }]) => {
    const means = [description, choices?.join(", ")].filter((part) => part !== undefined).join(": ");
    return `\`${name}${required.includes(name) ? "" : "?"}\`${means === "" ? "" : ` (${means})`}`;
  });
  return said.length === 0 ? "none" : said.join(", ");
}

const row = (name: string, what: string, args: z.infer<typeof Schema>): string =>
  `| \`${name}\` | ${what} | ${argumentsOf(args)} |`;

/** Returns the rows between two marks of the document, without the table's head. */
function rowsAt(mark: string): string[] {
  const part = doc.split(`<!-- ${mark} -->`)[1]?.split(`<!-- end of ${mark} -->`)[0] ?? "";
  return part.split("\n").filter((line) => line.startsWith("| `"));
}

test("the document's table of acts matches the code", () => {
  const rows = listing.acts.map(({ name, what, args }) => row(name, what, args));
  expect(rowsAt("acts").join("\n")).toBe(rows.join("\n"));
});

test("the document's table of lists matches the code", () => {
  const rows = listing.reads.map(({ path, what, query }) => {
    const { wait, limit, ...properties } = query.properties;
    const lists = wait === undefined || limit === undefined ? "" : " (a list)";
    return row(path, what + lists, { ...query, properties });
  });
  expect(rowsAt("looks").join("\n")).toBe(rows.join("\n"));
});

test("every act is used in a test", () => {
  const folders = ["../control/", "../scenes/"].map((folder) => new URL(folder, import.meta.url));
  const tests = folders
    .flatMap((folder) => readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8")))
    .join("\n");
  expect(listing.acts.map(({ name }) => name).filter((name) => !tests.includes(`"${name}"`))).toEqual([]);
});

/** Returns the shell commands of the document, each as the request that it sends. */
function requestsIn(text: string): { path: string; body: string | null; headers: string[] }[] {
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code = ""]) =>
    code.replaceAll("\\\n", " "),
  );
  const lines = blocks.flatMap((code) => code.split("\n")).filter((line) => line.startsWith("curl "));
  return lines.map((line) => ({
    path: /"?\$SANDBOX(\/[^\s"]*)/.exec(line)?.[1] ?? "",
    body: /-d '([^']*)'/.exec(line)?.[1] ?? null,
    headers: [...line.matchAll(/-H '([^']*)'/g)].map(([, header]) => header ?? ""),
  }));
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

test("the document's examples work as described, in their order", { timeout: 180_000 }, async () => {
  await sandbox.world.bot?.ready();
  const requests = requestsIn(doc);
  expect(requests.length).toBeGreaterThan(6);
  const wrong: string[] = [];
  for (const { path, body, headers } of requests) {
    if (body !== null && headers.join() !== "x-sandbox-control: 1") wrong.push(`${body} lacks the header`);
    const init = body === null ? {} : { method: "POST", headers: HEADERS, body };
    const answer = await sandbox.send(path, init);
    const empty = path.includes("wait=") && Object.values(answer.body).some((list) => isEmpty(list));
    if (answer.status !== 200 || empty) wrong.push(`${path} ${body}: ${JSON.stringify(answer.body)}`);
  }
  expect(wrong).toEqual([]);
  const { approvals } = sandbox.world.service.runs.all()[0] ?? {};
  expect(approvals).toMatchObject([
    { state: { type: "decided", verdict: "approve", reason: "Release 2.41 is tested" } },
  ]);
});
