// Checks which layer may import what, and other rules about where code belongs.

import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { ownSources, type Sources } from "./make/own-sources.ts";
import { SANDBOX_FLOORS } from "./sandbox/floors.ts";

type Layer = {
  /** A file, or a folder with a trailing slash. */
  readonly place: string;
  /** The places of ours that it may import, besides itself. */
  readonly own: readonly string[];
  /** The packages that it may import. Null allows any. */
  readonly packages: readonly string[] | null;
};

const NONE: readonly string[] = [];
const DOMAIN = ["src/domain/"];
const CORE = [...DOMAIN, "src/audit/", "src/ports.ts", "src/ports/"];
const BOT = [...CORE, "src/engine/", "src/notifications/", "src/usecases/", "src/bot.ts"];

const SHARED = ["src/config.ts", "src/log.ts", "src/outbound.ts", "src/version.ts", "src/program-options.ts"];
const ROOT_PARTS = ["src/reload.ts", "src/open-ports.ts"];
const SHELL = [...SHARED, "src/app.ts", "src/load-config.ts"];

/** The layers of the bot. The first row that matches a file applies. */
const PRODUCT: readonly Layer[] = [
  { place: "src/domain/", own: NONE, packages: NONE },
  { place: "src/version.ts", own: NONE, packages: null },
  { place: "src/program-options.ts", own: ["src/version.ts"], packages: NONE },
  { place: "src/config/", own: NONE, packages: null },
  { place: "src/config.ts", own: ["src/config/"], packages: null },
  { place: "src/log.ts", own: DOMAIN, packages: null },
  { place: "src/outbound.ts", own: ["src/config.ts"], packages: ["undici"] },
  { place: "src/audit/", own: DOMAIN, packages: NONE },
  { place: "src/ports.ts", own: [...DOMAIN, "src/audit/"], packages: NONE },
  { place: "src/ports/", own: [...DOMAIN, "src/audit/", "src/ports.ts"], packages: NONE },
  { place: "src/engine/", own: CORE, packages: ["p-retry", "tinyqueue"] },
  { place: "src/notifications/", own: [...CORE, "src/engine/"], packages: NONE },
  { place: "src/usecases/", own: [...CORE, "src/engine/", "src/notifications/"], packages: NONE },
  { place: "src/bot.ts", own: BOT, packages: NONE },
  { place: "src/adapters/slack/", own: BOT, packages: null },
  { place: "src/adapters/agents/", own: CORE, packages: null },
  { place: "src/adapters/store/", own: CORE, packages: null },
  { place: "src/adapters/http/", own: CORE, packages: null },
  { place: "src/adapters/chart/", own: CORE, packages: null },
  { place: "src/adapters/audit-sink/", own: CORE, packages: null },
  { place: "src/adapters/policy-file/", own: [...CORE, "src/engine/"], packages: null },
  { place: "src/reload.ts", own: [...BOT, "src/adapters/policy-file/", "src/config.ts"], packages: NONE },
  { place: "src/open-ports.ts", own: [...BOT, "src/adapters/", "src/reload.ts", ...SHARED], packages: null },
  { place: "src/app.ts", own: [...BOT, "src/adapters/", ...ROOT_PARTS, ...SHARED], packages: null },
  { place: "src/load-config.ts", own: [...CORE, "src/adapters/policy-file/", ...SHARED], packages: NONE },
  { place: "src/start-bot.ts", own: SHELL, packages: null },
  { place: "src/main.ts", own: ["src/program-options.ts", "src/start-bot.ts"], packages: null },
  // The shell commands examine parts individually and do not build the app, so they import what is below app.ts.
  { place: "src/cli/", own: [...CORE, "src/engine/", "src/adapters/", ...SHELL], packages: null },
];

const SANDBOX = SANDBOX_FLOORS.map(([place, own]): Layer => ({ place, own, packages: null }));

const LAYERS = [...PRODUCT, ...SANDBOX];

const covers = (place: string, path: string): boolean =>
  place.endsWith("/") ? path.startsWith(place) : path === place;

/** Returns the code without its comments, because an import in a comment is not an import. */
const codeOf = (text: string): string =>
  text.replace(/\/\*[^]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");

/** Returns every specifier in the file: imports, type imports, re-exports, side-effect imports and dynamic imports. */
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
  specifier.startsWith("#") ? specifier.slice(1) : normalize(join(dirname(path), specifier));

/** Returns the imports that the table does not allow, as "from → to". */
function wrongImports(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) => {
    const layer = LAYERS.find(({ place }) => covers(place, path));
    if (layer === undefined) return [`${path} is in no layer of the table`];
    return importsOf(text)
      .filter((specifier) => {
        if (!isOwn(specifier))
          return layer.packages !== null && !layer.packages.includes(packageOf(specifier));
        const to = target(path, specifier);
        return ![layer.place, ...layer.own].some((each) => covers(each, to));
      })
      .map((specifier) => `${path} → ${isOwn(specifier) ? target(path, specifier) : specifier}`);
  });
}

/** Returns each cycle of files once, starting at its first file. */
function cycles(sources: Sources): string[] {
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

/** Returns the cycles of folders. Each file counts as its folder. */
function folderCycles(sources: Sources): string[] {
  const folders = new Map<string, string>();
  for (const [path, text] of sources) {
    const folder = dirname(path);
    for (const specifier of importsOf(text).filter(isOwn)) {
      const to = dirname(target(path, specifier));
      if (to !== folder) folders.set(folder, `${folders.get(folder) ?? ""}import "#${to}";`);
    }
  }
  return cycles(folders);
}

type Ban = { readonly what: string; readonly pattern: RegExp; readonly allowed: (path: string) => boolean };

const inSandbox = (path: string): boolean => path.startsWith("sandbox/");
const isCommand = (path: string): boolean =>
  /^src\/(start-bot|cli\/(doctor|audit|backup|policy|migrate-store))\.ts$/.test(path);

const BANS: readonly Ban[] = [
  {
    what: "zod outside the borders",
    pattern: /from "zod"/,
    allowed: (path) =>
      /^src\/(config(\/[a-z-]+)?|adapters\/slack\/(payloads|answers|socket-connection))\.ts$/.test(path) ||
      /^(src\/adapters\/(agents|store|policy-file)|src\/cli|sandbox)\//.test(path),
  },
  {
    what: "a state of an approval built outside its transitions",
    pattern:
      /\bdelivery: \{|\bstate: \{(?! readonly)|\btype: "(closed", cause|decided", decision)\b|\{ type: "pending" \}|\bvotes: (?!readonly)\S|\.\.\.approval,[^}]*\b(state|votes|delivery)\b/,
    allowed: (path) =>
      path === "src/domain/approval-transitions.ts" ||
      path.startsWith("src/adapters/store/") ||
      inSandbox(path),
  },
  {
    what: "the environment read outside the shell commands",
    pattern: /process\.env|process\["env"\]|\benv\b[^;]*from "node:process"/,
    // The sandbox starts the bot with its own PATH.
    allowed: (path) => isCommand(path) || path === "sandbox/bot/bot-process.ts",
  },
  {
    what: "Bolt's own answers",
    pattern: /\b(respond|say)\s*[,}]\s*(?:[^;]*\}\s*)?\)?\s*=>|\brespond\(/,
    allowed: inSandbox,
  },
  {
    what: "fetch",
    pattern: /(?<![\w.])fetch\(|globalThis\.fetch|import \{[^}]*\bfetch\b/,
    allowed: (path) => inSandbox(path) || path === "src/outbound.ts",
  },
  {
    what: "a function with a body that is not a declaration",
    pattern:
      /^(?:export )?const \w+(?:: .*)? = (?:async )?(?:\(.*\)(?:: .*)?|\w+) => \{$|^\)(?:: .*)? => \{$/m,
    allowed: () => false,
  },
  {
    what: "a union whose members are told apart by something other than type",
    pattern: /^\s*\| \{ readonly (?:kind|do|what|is|tag): ["']/m,
    allowed: () => false,
  },
  {
    what: "console",
    pattern: /\bconsole\.\w/,
    allowed: (path) => isCommand(path) || inSandbox(path),
  },
];

function banned(sources: Sources): string[] {
  return BANS.flatMap(({ what, pattern, allowed }) =>
    [...sources]
      .filter(([path, text]) => !allowed(path) && pattern.test(codeOf(text)))
      .map(([path]) => `${path}: ${what}`),
  );
}

const typescript: Sources = new Map([...ownSources()].filter(([path]) => path.endsWith(".ts")));

describe("the code", () => {
  test("imports only what its layer allows", () => expect(wrongImports(typescript)).toEqual([]));
  test("has no cycle of files, type imports included", () => expect(cycles(typescript)).toEqual([]));
  test("has no cycle of folders in the sandbox", () => {
    expect(folderCycles(new Map([...typescript].filter(([path]) => inSandbox(path))))).toEqual([]);
  });
  test("keeps each construct in the files where it is allowed", () => expect(banned(typescript)).toEqual([]));
  test("imports only files that exist", () => {
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

describe("the check finds", () => {
  const plan = (files: Record<string, string>): Sources => new Map(Object.entries(files));
  const up = "src/domain/a.ts → src/engine/b.ts";

  test.each<[string, string, string, string]>([
    ["an import upwards", "src/domain/a.ts", 'import { b } from "../engine/b.ts";', up],
    ["a type import upwards", "src/domain/a.ts", 'import type { B } from "../engine/b.ts";', up],
    ["a re-export upwards", "src/domain/a.ts", 'export { b } from "../engine/b.ts";', up],
    ["a star re-export", "src/domain/a.ts", 'export * from "../engine/b.ts";', up],
    ["an import for its effect", "src/domain/a.ts", 'import "../engine/b.ts";', up],
    ["a dynamic import", "src/domain/a.ts", 'const b = await import("../engine/b.ts");', up],
    ["an import over several lines", "src/domain/a.ts", 'import {\n  b,\n} from "../engine/b.ts";', up],
    ["an import by alias", "src/domain/a.ts", 'import { b } from "#src/engine/b.ts";', up],
    ["a package in the domain", "src/domain/a.ts", 'import { z } from "zod";', "src/domain/a.ts → zod"],
    [
      "a Node module in the domain",
      "src/domain/a.ts",
      'import { createHash } from "node:crypto";',
      "src/domain/a.ts → node:crypto",
    ],
    [
      "a package that the engine may not use",
      "src/engine/a.ts",
      'import { request } from "undici";',
      "src/engine/a.ts → undici",
    ],
    [
      "one adapter in another",
      "src/adapters/slack/a.ts",
      'import { b } from "../store/b.ts";',
      "src/adapters/slack/a.ts → src/adapters/store/b.ts",
    ],
    [
      "the bot in the sandbox",
      "sandbox/slack/b.ts",
      'import { c } from "../../src/domain/c.ts";',
      "sandbox/slack/b.ts → src/domain/c.ts",
    ],
    [
      "the sandbox in the bot",
      "src/app.ts",
      'import { c } from "#sandbox/base/sandbox-clock.ts";',
      "src/app.ts → sandbox/base/sandbox-clock.ts",
    ],
    [
      "the page in the emulated Slack",
      "sandbox/slack/b.ts",
      'import { c } from "../page/c.ts";',
      "sandbox/slack/b.ts → sandbox/page/c.ts",
    ],
    [
      "an adapter in the entry point",
      "src/main.ts",
      'import { b } from "./adapters/store/b.ts";',
      "src/main.ts → src/adapters/store/b.ts",
    ],
    [
      "the domain in the configuration",
      "src/config.ts",
      'import { b } from "./domain/b.ts";',
      "src/config.ts → src/domain/b.ts",
    ],
    [
      "the service in the page",
      "sandbox/page/b.ts",
      'import { c } from "../service/c.ts";',
      "sandbox/page/b.ts → sandbox/service/c.ts",
    ],
    [
      "a new folder of the sandbox",
      "sandbox/other/a.ts",
      "",
      "sandbox/other/a.ts is in no layer of the table",
    ],
    ["a file in no layer", "src/other/a.ts", "", "src/other/a.ts is in no layer of the table"],
  ])("%s", (_what, path, text, told) => expect(wrongImports(plan({ [path]: text }))).toEqual([told]));

  test("no fault in an allowed import or in a comment", () => {
    const fine = {
      "src/engine/a.ts":
        'import pRetry from "p-retry";\n// from "../slack/b.ts"\nimport { c } from "../domain/c.ts";',
      "src/domain/c.ts": '/* import { z } from "zod"; */\nexport const url = "https://x.example";',
    };
    expect(wrongImports(plan(fine))).toEqual([]);
  });

  test("cycles, including cycles of types and cycles through several files", () => {
    const cycle = {
      "src/domain/a.ts": 'import type { B } from "./b.ts";',
      "src/domain/b.ts": 'export type { C } from "./c.ts";',
      "src/domain/c.ts": 'import { a } from "./a.ts";',
    };
    expect(cycles(plan(cycle))).toEqual([
      "src/domain/a.ts → src/domain/b.ts → src/domain/c.ts → src/domain/a.ts",
    ]);
    expect(cycles(plan({ "src/domain/a.ts": 'import { a } from "./a.ts";' }))).toEqual([
      "src/domain/a.ts → src/domain/a.ts",
    ]);
  });

  test("cycles of folders, even if no file is in a cycle", () => {
    const cycle = {
      "sandbox/page/a.ts": 'import type { B } from "./drawing/b.ts";',
      "sandbox/page/drawing/b.ts": 'import { c } from "../base/c.ts";',
      "sandbox/page/base/c.ts": 'import { d } from "../d.ts";',
      "sandbox/page/d.ts": "",
    };
    expect(cycles(plan(cycle))).toEqual([]);
    expect(folderCycles(plan(cycle))).toEqual([
      "sandbox/page → sandbox/page/drawing → sandbox/page/base → sandbox/page",
    ]);
  });

  test.each([
    ["src/engine/a.ts", 'import { z } from "zod";', "zod outside the borders"],
    ...[
      'const next = { ...approval, state: { type: "pending" } };',
      'const state = { type: "closed", cause: "expired", at: now } as const;',
      'const state = { ...before, delivery: { type: "recorded" } };',
      "const next = { ...approval, votes: [] };",
      "const next = { ...approval, votes, past };",
    ].map((text): [string, string, string] => [
      "src/usecases/a.ts",
      text,
      "a state of an approval built outside its transitions",
    ]),
    ["src/app.ts", 'const home = process.env["HOME"];', "the environment read outside the shell commands"],
    [
      "src/adapters/slack/a.ts",
      "app.action(name, async ({ ack, respond }) => { await ack(); });",
      "Bolt's own answers",
    ],
    ["src/adapters/slack/a.ts", 'app.command(name, async ({ say }) => say("x"));', "Bolt's own answers"],
    ["src/adapters/agents/a.ts", "const answer = await fetch(url);", "fetch"],
    ["src/adapters/agents/a.ts", 'import { fetch } from "undici";', "fetch"],
    ["src/engine/a.ts", 'console.log("x");', "console"],
    [
      "sandbox/service/a.ts",
      'type Step =\n  | { readonly kind: "wait" };',
      "a union whose members are told apart by something other than type",
    ],
    [
      "src/engine/a.ts",
      "export const a = (b: B): C => {\n};",
      "a function with a body that is not a declaration",
    ],
    [
      "src/engine/a.ts",
      "const a = (\n  b: B,\n): C => {\n};",
      "a function with a body that is not a declaration",
    ],
  ])("in %s: %s", (path, text, what) => expect(banned(plan({ [path]: text }))).toEqual([`${path}: ${what}`]));
});
