// The manifests against the types that Kubernetes generates from its own API: a field that is misspelt, misplaced or of the wrong kind
// does not compile. Then what the types cannot hold.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { readConfig, variables } from "#src/config.ts";
import { typeFaults } from "./make/type-faults.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const FOLDERS = ["deploy/kubernetes", "deploy/kubernetes-sqlite"];

const Kind = z.looseObject({ apiVersion: z.string(), kind: z.string() });
const documentsIn = (path: string) =>
  readdirSync(join(ROOT, path)).flatMap((name) =>
    parseAllDocuments(readFileSync(join(ROOT, path, name), "utf8")).map((each) => Kind.parse(each.toJS())),
  );

const modules: Record<string, string> = { v1: "core/v1", "apps/v1": "apps/v1", "policy/v1": "policy/v1" };

/** What the compiler says about these documents; empty: nothing. */
function faultsOf(documents: readonly z.output<typeof Kind>[]): string {
  const lines = documents.map(({ apiVersion, kind, ...rest }, at) => {
    const json = JSON.stringify({ apiVersion, kind, ...rest });
    return `import type { ${kind} as T${at} } from "kubernetes-types/${modules[apiVersion]}.js";\nexport const d${at}: T${at} = ${json};`;
  });
  return typeFaults(lines.join("\n"));
}

test.each(FOLDERS)("%s is what Kubernetes takes", { timeout: 60_000 }, (path) => {
  const documents = documentsIn(path);
  expect(documents.length).toBeGreaterThan(2);
  expect(faultsOf(documents)).toBe("");
});

test("a misspelt field is noticed", { timeout: 60_000 }, () => {
  const [pod] = documentsIn(FOLDERS[1] ?? "").filter(({ kind }) => kind === "Deployment");
  const text = JSON.stringify(pod).replace("livenessProbe", "livenesProbe");
  expect(faultsOf([Kind.parse(JSON.parse(text))])).toContain("livenesProbe");
});

const Pod = z.object({
  spec: z.object({
    replicas: z.number(),
    strategy: z.object({ type: z.string() }),
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([
          z.looseObject({ volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })) }),
        ]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});

test("one bot with SQLite: never two at once, and the bot starts with its variables and files", () => {
  const documents = documentsIn("deploy/kubernetes-sqlite");
  const of = (kind: string) => documents.find((each) => each.kind === kind);
  const { replicas, strategy, template } = Pod.parse(of("Deployment")).spec;
  expect([replicas, strategy.type]).toEqual([1, "Recreate"]);
  expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(10);
  const [{ volumeMounts }] = template.spec.containers;
  const { data } = z.object({ data: z.record(z.string(), z.string()) }).parse(of("ConfigMap"));
  const values: Record<string, string> = {
    SLACK_BOT_TOKEN: "xoxb-1-abc",
    SLACK_APP_TOKEN: "xapp-1-abc",
    AGENT_API_KEY: "key",
    AUDIT_KEY: Buffer.alloc(32, 7).toString("base64"),
  };
  const secrets = volumeMounts.find(({ name }) => name === "secrets")?.mountPath ?? "?";
  const env = Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      if (!name.endsWith("_FILE")) return [name, value];
      const plain = name.replace(/_FILE$/, "");
      expect(value).toBe(`${secrets}/${plain.toLowerCase().replaceAll("_", "-")}`);
      return [plain, values[plain]];
    }),
  );
  const known = variables.map(({ name }) => name);
  expect(Object.keys(env).filter((name) => !known.some((each) => each === name))).toEqual([]);
  expect(readConfig(env)).toMatchObject({ ok: true, value: { database: { path: "/data/countersign.db" } } });
  const mounted = volumeMounts.map(({ name }) => name).toSorted();
  expect(template.spec.volumes.map(({ name }) => name).toSorted()).toEqual(mounted);
});
