// Checks the image without a Docker daemon: reads the Dockerfile, copies the same files into a folder, and starts the bot there.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { variables } from "#src/config.ts";
import { dockerfile, imageEnv, linesOf } from "./make/dockerfile.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const last = (verb: string): string => linesOf(verb).at(-1) ?? "";
const argv = (json: string): string[] => z.array(z.string()).parse(JSON.parse(json));

/** See docs.docker.com, .dockerignore: the last matching line applies, and a line for a folder matches everything below it. */
const ignoreLines = read(".dockerignore")
  .split("\n")
  .map((line) => line.trim())
  .filter((line) => line !== "" && !line.startsWith("#"));

function isIgnored(path: string): boolean {
  let ignored = false;
  for (const line of ignoreLines) {
    const pattern = line.replace(/^!/, "").replace(/^\/|\/$/g, "");
    const source = pattern
      .split("*")
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
      .join("[^/]*");
    if (new RegExp(`^${source}(/.*)?$`).test(path)) ignored = !line.startsWith("!");
  }
  return ignored;
}

/** Returns the files that the COPY lines bring into the image, relative to the repository. */
function copied(): string[] {
  const sources = linesOf("COPY").flatMap((rest) =>
    rest
      .split(/\s+/)
      .filter((word) => !word.startsWith("--"))
      .slice(0, -1),
  );
  return sources.flatMap((source) => {
    const path = source.replace(/^\.\/|\/$/g, "");
    if (!statSync(join(ROOT, path)).isDirectory()) return [path];
    return readdirSync(join(ROOT, path), { recursive: true, encoding: "utf8" })
      .map((each) => join(path, each))
      .filter((each) => statSync(join(ROOT, each)).isFile());
  });
}

const inImage = copied().filter((path) => !isIgnored(path));

const manifest = z
  .object({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read("package.json")));

const lock = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        dev: z.boolean().optional(),
        optional: z.boolean().optional(),
        devOptional: z.boolean().optional(),
        hasInstallScript: z.boolean().optional(),
      }),
    ),
  })
  .parse(JSON.parse(read("package-lock.json")));

/** The packages that `npm ci --omit=dev --omit=optional` installs. */
const production = Object.entries(lock.packages).filter(
  ([path, { dev, optional, devOptional }]) =>
    path !== "" && dev !== true && optional !== true && devOptional !== true,
);

describe("the image", () => {
  test("uses a Node version that package.json allows", () => {
    expect(linesOf("FROM")).toEqual(["${NODE_IMAGE}"]);
    const [image] = linesOf("ARG");
    expect(Number(/^NODE_IMAGE=node:(\d+)/.exec(image ?? "")?.[1])).toBeGreaterThanOrEqual(26);
  });

  test("does not run as root", () => {
    expect(last("USER")).not.toMatch(/^(root|0)?(:|$)/);
    const order = dockerfile.map(({ verb }) => verb);
    expect(order.lastIndexOf("USER")).toBeGreaterThan(order.lastIndexOf("RUN"));
    expect(order.lastIndexOf("USER")).toBeLessThan(order.lastIndexOf("CMD"));
  });

  test("installs the production packages of the lock file, none of which has an install script", () => {
    const installs = linesOf("RUN").filter((rest) => /\bnpm\b/.test(rest));
    expect(installs).toHaveLength(1);
    for (const word of ["npm ci", "--omit=dev", "rm -rf node_modules/node-*"])
      expect(installs[0]).toContain(word);
    const scripted = production.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(scripted.map(([path]) => path)).toEqual([]);
  });

  test("starts the bot directly, without a shell or npm that would receive its signals", () => {
    const { scripts } = JSON.parse(read("package.json")) as {
      scripts: { start: string };
    };
    expect(argv(last("CMD"))).toEqual(scripts.start.split(" "));
    expect(argv(last("CMD")).at(-1)).toBe("src/main.ts");
    expect(linesOf("ENTRYPOINT")).toEqual([]);
  });

  test("leaves DATABASE_URL to the deployment, and keeps the database of the default on a volume that its user may write to", () => {
    expect(Object.keys(imageEnv).filter((name) => name.startsWith("DATABASE_URL"))).toEqual([]);
    const path = /^sqlite:(.+)$/.exec(
      variables.find(({ name }) => name === "DATABASE_URL")?.default ?? "",
    )?.[1];
    const folder = dirname(resolve(last("WORKDIR"), path ?? "?"));
    const [volume = "?"] = linesOf("VOLUME");
    expect(linesOf("RUN")).toContain(
      `mkdir ${volume} && chown ${last("USER")}:${last("USER")} ${volume} && ln -s ${volume} ${folder}`,
    );
  });

  test("contains no secret, and nothing from the sandbox, the tests or the repository", () => {
    expect(linesOf("ENV").join(" ")).not.toMatch(/TOKEN|SECRET|KEY/);
    expect(linesOf("ARG").join(" ")).not.toMatch(/TOKEN|SECRET|KEY/);
    const strange = inImage.filter((path) => !/^(src\/|package(-lock)?\.json$|\.npmrc$)/.test(path));
    expect(strange).toEqual([]);
    expect(inImage.filter((path) => path.startsWith("sandbox"))).toEqual([]);
    expect(inImage).toContain("src/main.ts");
    const strangers = [
      ".env",
      "data/countersign.db",
      ".git/config",
      "test/docker.test.ts",
      "node_modules/x/y.js",
    ];
    expect(strangers.filter((path) => !isIgnored(path))).toEqual([]);
  });

  test("contains every package that its code imports, as a production dependency", () => {
    const names = [
      ...new Set(inImage.filter((path) => path.endsWith(".ts")).flatMap((path) => packagesIn(read(path)))),
    ];
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !Object.hasOwn(manifest.dependencies, name))).toEqual([]);
  });
});

/** Returns the packages that a file needs at run time. Imports of types do not exist at run time. */
function packagesIn(text: string): string[] {
  const imports = text.matchAll(/^(?:import|export)\s(type\s)?(?:[^;]*?\sfrom\s)?"([^."#][^"]*)";/gm);
  const later = text.matchAll(/\bimport()\("([^."#][^"]*)"\)/g);
  return [...imports, ...later]
    .filter(([, type = "", name = ""]) => type === "" && !name.startsWith("node:"))
    .map(([, , name = ""]) =>
      name
        .split("/")
        .slice(0, name.startsWith("@") ? 2 : 1)
        .join("/"),
    );
}

test("the documented commands run in a container: the image has no entry point, and the program is in it", () => {
  const pages = ["deploy", "backup", "audit", "operate"].map((name) => read(`docs/${name}.md`));
  const lines = pages.flatMap((page) => [...page.matchAll(/docker compose (exec|run) ([^#\n`]*)/g)]);
  const commands = lines.map(([, verb = "", rest = ""]) => {
    const [, , service = "", command = `not understood: ${rest}`] =
      /^((?:-\w+|--[\w=]+)\s+|\S+:\S+\s+)*(countersign|postgres) (.+?)\s*$/.exec(rest) ?? [];
    return { verb, service, rest: command };
  });
  const ofServer = commands.filter(({ service }) => service === "postgres");
  expect(ofServer.filter(({ rest }) => !/^(pg_dump|pg_restore|psql) /.test(rest))).toEqual([]);
  const words = commands.filter(({ service }) => service !== "postgres");
  expect(new Set(words.map(({ verb }) => verb))).toEqual(new Set(["exec", "run"]));
  const programs = words.map(({ rest }) => /^(?:node (src\/cli\/\w+\.ts)( |$)|sh$)/.exec(rest));
  expect(words.filter((_, index) => programs[index] === null)).toEqual([]);
  const files = programs.flatMap((found) => found?.[1] ?? []);
  expect(files.filter((file) => !inImage.includes(file))).toEqual([]);
  expect(linesOf("ENTRYPOINT")).toEqual([]);
});

describe("the contents of the image", () => {
  let folder = "";

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "countersign-image-"));
    for (const path of inImage) cpSync(join(ROOT, path), join(folder, path));
    // A nested package is copied with the package that contains it.
    const outer = production.map(([path]) => path).filter((path) => path.lastIndexOf("node_modules/") === 0);
    for (const path of outer.filter((each) => existsSync(join(ROOT, each))))
      cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (file: string, args: readonly string[], env: Record<string, string>) =>
    new Promise<{ code: number; stderr: string }>((resolve) => {
      execFile(file, [...args], { cwd: folder, env }, (error, _out, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, stderr }),
      );
    });

  test("load completely, and report what is missing in the configuration", async () => {
    const { code, stderr } = await run(process.execPath, argv(last("CMD")).slice(1), {});
    expect(stderr).toContain("Countersign cannot start with this configuration");
    expect(stderr).not.toMatch(/ERR_MODULE_NOT_FOUND|SyntaxError/);
    expect(code).toBe(2);
    // The Dockerfile starts the bot once like this, to fill the compile cache.
    const [kept = ""] = readdirSync(join(folder, "node_modules/.cache/node-compile"));
    expect(readdirSync(join(folder, "node_modules/.cache/node-compile", kept)).length).toBeGreaterThan(500);
  });

  test.each([
    [200, 0],
    [503, 1],
  ])(
    "have a health check that follows the answer of /livez: status %i exits with %i",
    async (status, code) => {
      const asked: (string | undefined)[] = [];
      const server = createServer((request, response) => {
        asked.push(request.url);
        response.writeHead(status).end();
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = server.address();
      const port = typeof address === "object" && address !== null ? String(address.port) : "";
      const check = argv(/CMD\s+(\[.*\])\s*$/.exec(last("HEALTHCHECK"))?.[1] ?? "[]");
      expect(check[0]).toBe("node");
      expect((await run(process.execPath, check.slice(1), { PORT: port })).code).toBe(code);
      expect(asked).toEqual([expect.stringMatching("/livez")]);
      server.closeAllConnections();
      server.close();
    },
  );

  test("have a health check that fails if nothing answers", async () => {
    const check = argv(/CMD\s+(\[.*\])\s*$/.exec(last("HEALTHCHECK"))?.[1] ?? "[]");
    expect((await run(process.execPath, check.slice(1), { PORT: "1" })).code).toBe(1);
  });
});
