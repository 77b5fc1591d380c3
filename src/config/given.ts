// The value of each variable: the variable itself, or the content of the file that NAME_FILE names. Docker and Kubernetes give
// secrets as files.

import { readFileSync } from "node:fs";
import { PROXY_VARIABLES } from "./proxies.ts";
import { variables } from "./variables.ts";

export type Environment = { readonly [name: string]: string | undefined };
type Name = (typeof variables)[number]["name"];

export type Given = {
  /** By name: the set value, or the default. */
  readonly values: { readonly [name: string]: string | undefined };
  /** By name: the path of the file that a value came from. */
  readonly files: { readonly [name: string]: string };
  readonly faults: readonly { readonly variable: string; readonly wrong: string }[];
};

type Reading = { readonly value: string } | { readonly file: string; readonly value: string };
type Fault = { readonly variable: string; readonly wrong: string };

/** Larger than any value (bytes). */
const MAX_FILE_BYTES = 64 * 1024;

export const fileVariable = (name: string): string => `${name}_FILE`;

/** Reads the files now. White space around a value, such as the newline at the end of a file, is no part of it. */
export function givenIn(env: Environment): Given {
  const values: Record<string, string | undefined> = {};
  const files: Record<string, string> = {};
  const faults: Fault[] = [];
  for (const { name, default: initial } of variables) {
    const read = readOne(env, name);
    if (read === null) values[name] = initial ?? undefined;
    else if ("wrong" in read) {
      faults.push(read);
      // Set, but to nothing, so that it is not called missing as well.
      values[name] = "";
    } else {
      values[name] = read.value;
      if ("file" in read) files[name] = read.file;
    }
  }
  return { values, files, faults };
}

/** The set value of one variable. Null: it is not set, or its file cannot be read. */
export function givenValue(env: Environment, name: Name): string | null {
  const read = readOne(env, name);
  return read !== null && "value" in read ? read.value : null;
}

function readOne(env: Environment, name: string): Reading | Fault | null {
  const value = ofEither(env, name)?.trim() ?? "";
  const variable = fileVariable(name);
  const file = env[variable]?.trim() ?? "";
  if (file === "") return value === "" ? null : { value };
  if (value !== "") return { variable, wrong: `is set beside ${name}: leave one of them out` };
  const read = readValue(file);
  return "value" in read ? { ...read, file } : { variable, wrong: `names ${shownPath(file)}, ${read.wrong}` };
}

/** The lower case of a proxy's variable goes first, as in curl and undici. */
const ofEither = (env: Environment, name: string): string | undefined =>
  PROXY_VARIABLES.includes(name) ? env[name.toLowerCase()] || env[name] : env[name];

/** The content of a file that holds one value. */
export function readValue(file: string): { readonly value: string } | { readonly wrong: string } {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > MAX_FILE_BYTES) return { wrong: "which is larger than 64 KiB" };
    const value = bytes.toString("utf8").trim();
    return value === "" ? { wrong: "which is empty" } : { value };
  } catch (error) {
    return { wrong: `which cannot be read: ${reasonOf(error)}` };
  }
}

const REASONS: { readonly [code: string]: string } = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown fault";
  return REASONS[code] ?? code;
}

/** By mistake the variable can hold the secret itself, so only what looks like a path is repeated. */
const shownPath = (file: string): string =>
  /^(\.{0,2}\/|[A-Za-z]:\\)/.test(file)
    ? `the file ${file}`
    : "a file by a path that does not begin with / or ./";
