// Compiles the manifests against the types that Kubernetes generates from its API. A field that is misspelled, misplaced or of the wrong
// type does not compile. Then checks what types cannot express.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { readConfig, variables } from "#src/config.ts";
import { imageEnv } from "./make/dockerfile.ts";
import { typeFaults } from "./make/type-faults.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const FOLDERS = ["deploy/kubernetes", "deploy/kubernetes-sqlite"];

const Kind = z.looseObject({ apiVersion: z.string(), kind: z.string() });
const documentsIn = (path: string) =>
  readdirSync(join(ROOT, path)).flatMap((name) =>
    parseAllDocuments(readFileSync(join(ROOT, path, name), "utf8")).map((each) => Kind.parse(each.toJS())),
  );

const modules: Record<string, string> = { v1: "core/v1", "apps/v1": "apps/v1", "policy/v1": "policy/v1" };

/** Returns the compiler's errors in these documents. Empty if there are none. */
function faultsOf(documents: readonly z.output<typeof Kind>[]): string {
  const lines = documents.map(({ apiVersion, kind, ...rest }, at) => {
    const json = JSON.stringify({ apiVersion, kind, ...rest });
    return `import type { ${kind} as T${at} } from "kubernetes-types/${modules[apiVersion]}.js";\nexport const d${at}: T${at} = ${json};`;
  });
  return typeFaults(lines.join("\n"));
}

test.each(FOLDERS)("%s matches the types of Kubernetes", (path) => {
  const documents = documentsIn(path);
  expect(documents.length).toBeGreaterThan(2);
  expect(faultsOf(documents)).toBe("");
});

test("a misspelled field is detected", () => {
  const [pod] = documentsIn(FOLDERS[1] ?? "").filter(({ kind }) => kind === "Deployment");
  const text = JSON.stringify(pod).replace("livenessProbe", "livenesProbe");
  expect(faultsOf([Kind.parse(JSON.parse(text))])).toContain("livenesProbe");
});

const Pod = z.object({
  spec: z.object({
    replicas: z.number(),
    progressDeadlineSeconds: z.number(),
    strategy: z.object({ type: z.string() }),
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([
          z.looseObject({
            startupProbe: z.object({ periodSeconds: z.number(), failureThreshold: z.number() }),
            volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
          }),
        ]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});

test("with SQLite, two bots never run at once, and the bot starts with its variables and files", () => {
  const documents = documentsIn("deploy/kubernetes-sqlite");
  const of = (kind: string) => documents.find((each) => each.kind === kind);
  const { replicas, strategy, template, progressDeadlineSeconds } = Pod.parse(of("Deployment")).spec;
  expect([replicas, strategy.type]).toEqual([1, "Recreate"]);
  expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(10);
  const [{ volumeMounts, startupProbe }] = template.spec.containers;
  // The first start after an upgrade may go through the whole audit.
  expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBeGreaterThanOrEqual(1_800);
  expect(progressDeadlineSeconds).toBeGreaterThan(startupProbe.periodSeconds * startupProbe.failureThreshold);
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
  expect(readConfig({ ...imageEnv, ...env })).toMatchObject({
    ok: true,
    value: { database: { path: "/data/countersign.db" } },
  });
  // The commands that copy the database write to the temporary folder, and the image is read-only.
  expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain("/tmp");
});

const manifests = (path: string): string =>
  readdirSync(join(ROOT, path))
    .map((name) => readFileSync(join(ROOT, path, name), "utf8"))
    .join("\n");

test.each(FOLDERS)(
  "the comment of %s says what to replace for HTTP mode, and nothing else names the app token",
  (path) => {
    const text = manifests(path).replaceAll(/\n# /g, " ");
    const words = /In the manifests, replace ([^.]+)\. /.exec(text)?.[1] ?? "";
    const changes = [...words.matchAll(/(\S+) with ([^\s,]+)/g)];
    const changed = changes.reduce((left, [, old = "", other = ""]) => left.replaceAll(old, other), text);
    expect(changed).not.toMatch(/app.token/i);
    expect(changed).toMatch(
      /SLACK_SIGNING_SECRET_FILE(: |\s+value: )\/run\/secrets\/countersign\/slack-signing-secret\n/,
    );
  },
);

test.each(FOLDERS)(
  "the variables in the comments of %s exist, and the policy is where its pods mount it",
  (path) => {
    const text = manifests(path);
    const offered = [...text.matchAll(/^ {2}# ([A-Z_]+): (\S+)$/gm)].map(([, name = "", value]) => ({
      name,
      value,
    }));
    const known: readonly string[] = variables.map(({ name }) => name);
    expect(offered.filter(({ name }) => !known.includes(name))).toEqual([]);
    const { spec } = Pod.parse(documentsIn(path).find(({ kind }) => kind === "Deployment")).spec.template;
    const [{ volumeMounts }] = spec.containers;
    const mount = volumeMounts.find(({ name }) => name === "policy");
    expect(offered).toContainEqual({ name: "POLICY_FILE", value: `${mount?.mountPath}/policy.yaml` });
    expect(text).toContain("kubectl create configmap countersign-policy --from-file=policy.yaml");
    expect(spec.volumes).toContainEqual({
      name: "policy",
      configMap: { name: "countersign-policy", optional: true },
    });
    expect(spec.volumes.map(({ name }) => name).toSorted()).toEqual(
      volumeMounts.map(({ name }) => name).toSorted(),
    );
  },
);

const Commands = z.looseObject({
  metadata: z.strictObject({ name: z.string() }),
  spec: z.looseObject({
    containers: z.tuple([z.looseObject({ volumeMounts: z.array(z.unknown()) })]),
    volumes: z.array(z.unknown()),
  }),
});

test.each([
  ["deploy/kubernetes", "postgres.yaml", ["tmp"]],
  ["deploy/kubernetes-sqlite", "sqlite.yaml", []],
])(
  "the pod for commands has the image, variables, files and rights of %s, and can write to /tmp",
  (path, file, more) => {
    const text = readFileSync(join(ROOT, "deploy/kubernetes-commands", file), "utf8");
    const document = Kind.parse(parseAllDocuments(text)[0]?.toJS());
    expect(faultsOf([document])).toBe("");
    const { spec } = Commands.parse(document);
    const [{ name: _, command, volumeMounts, ...container }] = spec.containers;
    const deployment = documentsIn(path).find(({ kind }) => kind === "Deployment");
    const bot = Commands.shape.spec.parse(
      z.object({ spec: z.object({ template: z.object({ spec: z.unknown() }) }) }).parse(deployment).spec
        .template.spec,
    );
    const [{ volumeMounts: botMounts, ...botContainer }] = bot.containers;
    expect(command).toEqual(["sleep", "infinity"]);
    expect(botContainer).toMatchObject(container);
    expect(Object.keys(container)).toEqual(
      Object.keys(botContainer).filter((key) => /image|env|securityContext/.test(key)),
    );
    expect(spec["securityContext"]).toEqual(bot["securityContext"]);
    const tmp = { name: "tmp", mountPath: "/tmp" };
    expect(volumeMounts).toEqual([...botMounts, ...more.map(() => tmp)]);
    expect(volumeMounts).toContainEqual(tmp);
    expect(spec.volumes).toEqual([...bot.volumes, ...more.map((name) => ({ name, emptyDir: {} }))]);
  },
);
