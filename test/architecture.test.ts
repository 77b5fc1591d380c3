// The floors of DESIGN.md as a table, and the other rules about where things may stand.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/** A file's text by its path below src. */
type Sources = ReadonlyMap<string, string>;

const NONE: readonly string[] = [];

/** What each room may import of ours (itself always), and which packages; null: any package. The first row that fits counts. */
const ROOMS: readonly {
  readonly room: string;
  readonly own: readonly string[];
  readonly packages: readonly string[] | null;
}[] = [
  { room: "core/", own: NONE, packages: NONE },
  { room: "config.ts", own: ["config/"], packages: null },
  { room: "config/", own: NONE, packages: null },
  // What a secret looks like is known in one place.
  { room: "log.ts", own: ["core/"], packages: null },
  { room: "flow/", own: ["core/"], packages: ["p-retry", "tinyqueue"] },
  { room: "slack/", own: ["flow/", "core/"], packages: null },
  { room: "agents/", own: ["flow/", "core/"], packages: null },
  { room: "store/", own: ["flow/", "core/"], packages: null },
  { room: "policy/", own: ["flow/", "core/"], packages: null },
  { room: "http/", own: ["flow/", "core/"], packages: null },
  {
    room: "app.ts",
    own: ["core/", "flow/", "slack/", "agents/", "store/", "policy/", "http/", "config.ts", "log.ts"],
    packages: null,
  },
  { room: "main.ts", own: ["app.ts", "config.ts", "log.ts"], packages: null },
  { room: "doctor.ts", own: ["doctor/", "app.ts", "config.ts", "log.ts"], packages: null },
  // The doctor is a root of its own: it opens each door alone, to say which one is wrong, and builds nothing.
  {
    room: "doctor/",
    own: ["core/", "flow/", "slack/", "agents/", "store/", "config.ts", "log.ts"],
    packages: null,
  },
  { room: "audit.ts", own: ["audit/", "config.ts"], packages: null },
  // It reads the audit of a database that a bot may hold, so it builds nothing either.
  { room: "audit/", own: ["core/", "flow/", "store/"], packages: null },
  {
    room: "policy-command.ts",
    own: ["policy-command/", "policy/", "config.ts"],
    packages: null,
  },
  // It reads as much as it needs of Slack and of the store, and writes nothing.
  {
    room: "policy-command/",
    own: ["core/", "flow/", "slack/", "store/", "policy/", "config.ts", "log.ts"],
    packages: null,
  },
  { room: "sandbox/", own: NONE, packages: null },
];

const roomOf = (path: string) =>
  ROOMS.find(({ room }) => (room.endsWith("/") ? path.startsWith(room) : path === room));

/** Code without its comments, so that what is only said of an import is not taken for one. */
const codeOf = (text: string): string =>
  text.replace(/\/\*[^]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");

/** Imports, type imports, re-exports, side-effect and dynamic imports: every specifier a file names. */
function importsOf(text: string): string[] {
  const found = codeOf(text).matchAll(
    /(?:^|[;\s])(?:import|export)\s(?:[^"';]*?\sfrom\s)?\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/g,
  );
  return [...found].map(([, fixed, dynamic]) => fixed ?? dynamic ?? "");
}

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

const isOwn = (specifier: string): boolean => specifier.startsWith(".") || specifier.startsWith("#");
const target = (path: string, specifier: string): string =>
  specifier.startsWith("#src/") ? specifier.slice(5) : normalize(join(dirname(path), specifier));

/** Imports that the table does not allow, as «from → to». */
function wrongImports(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) => {
    const room = roomOf(path);
    if (room === undefined) return [`${path} is in no room of the table`];
    return importsOf(text)
      .filter((specifier) => {
        if (!isOwn(specifier)) return room.packages !== null && !room.packages.includes(packageOf(specifier));
        const to = target(path, specifier);
        const allowed = [room.room, ...room.own];
        return !allowed.some((each) => (each.endsWith("/") ? to.startsWith(each) : to === each));
      })
      .map((specifier) => `${path} → ${isOwn(specifier) ? target(path, specifier) : specifier}`);
  });
}

/** Every circle once, by its first file. */
function circles(sources: Sources): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
    if (done.has(path) || trail.includes(path)) return;
    const next = importsOf(sources.get(path) ?? "").filter(isOwn);
    for (const specifier of next) walk(target(path, specifier), [...trail, path]);
    done.add(path);
  };
  for (const path of sources.keys()) walk(path, []);
  return found;
}

type Ban = { readonly what: string; readonly pattern: RegExp; readonly allowed: (path: string) => boolean };

const inSandbox = (path: string): boolean => path.startsWith("sandbox/");

const BANS: readonly Ban[] = [
  {
    what: "zod inside the borders",
    pattern: /from "zod"/,
    allowed: (path) =>
      /^(config\.ts|config\/fields\.ts|slack\/(payloads|wire)\.ts)$/.test(path) ||
      /^(agents|store|policy|doctor|sandbox)\//.test(path),
  },
  {
    what: "the environment read outside the shell commands",
    pattern: /process\.env|process\["env"\]|\benv\b[^;]*from "node:process"/,
    // The sandbox starts the bot with the PATH it was started with itself.
    allowed: (path) => /^(main|doctor|audit|policy-command|sandbox\/bot-process)\.ts$/.test(path),
  },
  {
    what: "Bolt's own answers",
    pattern: /\b(respond|say)\s*[,}]\s*(?:[^;]*\}\s*)?\)?\s*=>|\brespond\(/,
    allowed: inSandbox,
  },
  {
    what: "fetch",
    pattern: /(?<![\w.])fetch\(|globalThis\.fetch|import \{[^}]*\bfetch\b/,
    allowed: inSandbox,
  },
  {
    what: "console",
    pattern: /\bconsole\.\w/,
    allowed: (path) => /^(main|doctor|audit|policy-command)\.ts$/.test(path) || inSandbox(path),
  },
];

function banned(sources: Sources): string[] {
  return BANS.flatMap(({ what, pattern, allowed }) =>
    [...sources]
      .filter(([path, text]) => !allowed(path) && pattern.test(codeOf(text)))
      .map(([path]) => `${path}: ${what}`),
  );
}

const DRAWERS = /(^|\/)(utils?|helpers?|common|misc|types|constants|index)(\/|\.[jt]s$)/;
const drawers = (sources: Sources): string[] => [...sources.keys()].filter((path) => DRAWERS.test(path));

const MOST_LINES = 300;
const tooLong = (sources: Sources): string[] =>
  [...sources]
    .filter(([, text]) => text.trimEnd().split("\n").length > MOST_LINES)
    .map(([path, text]) => `${path}: ${text.trimEnd().split("\n").length} lines`);

const SRC = fileURLToPath(new URL("../src/", import.meta.url));
const all: Sources = new Map(
  readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.[jt]s$/.test(path))
    .map((path) => [path, readFileSync(join(SRC, path), "utf8")]),
);
const typescript: Sources = new Map([...all].filter(([path]) => path.endsWith(".ts")));

describe("the house", () => {
  test("has no import that goes up or across a floor", () => expect(wrongImports(typescript)).toEqual([]));
  test("has no circle, types included", () => expect(circles(typescript)).toEqual([]));
  test("keeps each thing where it belongs", () => expect(banned(typescript)).toEqual([]));
  test("has no drawers", () => expect(drawers(all)).toEqual([]));
  test("has no file of more than 300 lines", () => expect(tooLong(all)).toEqual([]));
  test("imports only files that are there", () => {
    const missing = [...typescript].flatMap(([path, text]) =>
      importsOf(text)
        .filter(isOwn)
        .map((specifier) => target(path, specifier))
        .filter((to) => to.endsWith(".ts") && !typescript.has(to))
        .map((to) => `${path} → ${to}`),
    );
    expect(missing).toEqual([]);
  });
});

describe("the checker sees", () => {
  const plan = (files: Record<string, string>): Sources => new Map(Object.entries(files));

  test.each<[string, string, string, string]>([
    ["an import upwards", "core/a.ts", 'import { b } from "../flow/b.ts";', "core/a.ts → flow/b.ts"],
    ["a type import upwards", "core/a.ts", 'import type { B } from "../flow/b.ts";', "core/a.ts → flow/b.ts"],
    ["a re-export upwards", "core/a.ts", 'export { b } from "../flow/b.ts";', "core/a.ts → flow/b.ts"],
    ["a star re-export", "core/a.ts", 'export * from "../flow/b.ts";', "core/a.ts → flow/b.ts"],
    ["an import for its effect", "core/a.ts", 'import "../flow/b.ts";', "core/a.ts → flow/b.ts"],
    ["a dynamic import", "core/a.ts", 'const b = await import("../flow/b.ts");', "core/a.ts → flow/b.ts"],
    [
      "an import over several lines",
      "core/a.ts",
      'import {\n  b,\n} from "../flow/b.ts";',
      "core/a.ts → flow/b.ts",
    ],
    ["an import by alias", "core/a.ts", 'import { b } from "#src/flow/b.ts";', "core/a.ts → flow/b.ts"],
    ["a package in the core", "core/a.ts", 'import { z } from "zod";', "core/a.ts → zod"],
    [
      "a Node module in the core",
      "core/a.ts",
      'import { createHash } from "node:crypto";',
      "core/a.ts → node:crypto",
    ],
    ["a strange package in the flow", "flow/a.ts", 'import { request } from "undici";', "flow/a.ts → undici"],
    ["a neighbour", "slack/a.ts", 'import { b } from "../store/b.ts";', "slack/a.ts → store/b.ts"],
    [
      "what the sandbox may not touch",
      "sandbox/a/b.ts",
      'import { c } from "../../core/c.ts";',
      "sandbox/a/b.ts → core/c.ts",
    ],
    ["a room below the shell's", "main.ts", 'import { b } from "./store/b.ts";', "main.ts → store/b.ts"],
    ["ours in the configuration", "config.ts", 'import { b } from "./core/b.ts";', "config.ts → core/b.ts"],
    ["a file in no room", "other/a.ts", "", "other/a.ts is in no room of the table"],
  ])("%s", (_what, path, text, told) => expect(wrongImports(plan({ [path]: text }))).toEqual([told]));

  test("nothing wrong in what is allowed, or in a comment", () => {
    const fine = {
      "flow/a.ts":
        'import pRetry from "p-retry";\n// from "../slack/b.ts"\nimport { c } from "../core/c.ts";',
      "core/c.ts": '/* import { z } from "zod"; */\nexport const url = "https://x.example";',
    };
    expect(wrongImports(plan(fine))).toEqual([]);
  });

  test("circles, of types and of longer ways round too", () => {
    const round = {
      "core/a.ts": 'import type { B } from "./b.ts";',
      "core/b.ts": 'export type { C } from "./c.ts";',
      "core/c.ts": 'import { a } from "./a.ts";',
    };
    expect(circles(plan(round))).toEqual(["core/a.ts → core/b.ts → core/c.ts → core/a.ts"]);
    expect(circles(plan({ "core/a.ts": 'import { a } from "./a.ts";' }))).toEqual(["core/a.ts → core/a.ts"]);
  });

  test.each([
    ["flow/a.ts", 'import { z } from "zod";', "zod inside the borders"],
    ["app.ts", 'const home = process.env["HOME"];', "the environment read outside the shell commands"],
    ["slack/a.ts", "app.action(name, async ({ ack, respond }) => { await ack(); });", "Bolt's own answers"],
    ["slack/a.ts", 'app.command(name, async ({ say }) => say("x"));', "Bolt's own answers"],
    ["agents/a.ts", "const answer = await fetch(url);", "fetch"],
    ["agents/a.ts", 'import { fetch } from "undici";', "fetch"],
    ["flow/a.ts", 'console.log("x");', "console"],
  ])("in %s: %s", (path, text, what) => expect(banned(plan({ [path]: text }))).toEqual([`${path}: ${what}`]));

  test("drawers and long files", () => {
    const paths = [
      "core/index.ts",
      "core/utils/text.ts",
      "slack/types.ts",
      "slack/constants.ts",
      "http/helpers.ts",
    ];
    expect(drawers(plan(Object.fromEntries(paths.map((path) => [path, ""]))))).toEqual(paths);
    expect(tooLong(plan({ "core/a.ts": "x\n".repeat(301), "core/b.ts": "x\n".repeat(300) }))).toEqual([
      "core/a.ts: 301 lines",
    ]);
  });
});
