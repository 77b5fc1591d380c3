// Checks that the version is the same everywhere, and the license.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const Package = z.object({
  version: z.string(),
  license: z.string(),
  optionalDependencies: z.record(z.string(), z.string()),
});
const { version, license, optionalDependencies } = Package.parse(JSON.parse(read("package.json")));

test("package.json, its lock file, the changelog, the image and Kubernetes name the same version", () => {
  const lock = z.object({ version: z.string() }).parse(JSON.parse(read("package-lock.json")));
  expect(lock.version).toBe(version);
  expect(/^## (\S+)/m.exec(read("CHANGELOG.md"))?.[1]).toBe(version);
  expect(/image\.version="([^"]+)"/.exec(read("Dockerfile"))?.[1]).toBe(version);
  expect(/image: countersign:(\S+)/.exec(read("deploy/kubernetes/deployment.yaml"))?.[1]).toBe(version);
  expect(/image: countersign:(\S+)/.exec(read("deploy/kubernetes-sqlite/countersign.yaml"))?.[1]).toBe(
    version,
  );
});

test("the license is MIT in package.json, in LICENSE and on the image", () => {
  expect(license).toBe("MIT");
  expect(read("LICENSE")).toMatch(/^MIT License\n/);
  expect(read("Dockerfile")).toContain('image.licenses="MIT"');
});

test("the image and the scripts use the same Node", () => {
  const [node] = new Set(Object.values(optionalDependencies));
  expect(read("Dockerfile")).toContain(`NODE_IMAGE=node:${node}-slim\n`);
});
