// The value of each variable: from the variable itself, or from the file that NAME_FILE names. Docker and Kubernetes provide secrets as
// files.

import { isUtf8 } from "node:buffer";
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
  /** By name, for the proxy variables only: the spelling that was read, upper or lower case. */
  readonly spelled: { readonly [name: string]: string };
  readonly faults: readonly { readonly variable: string; readonly wrong: string }[];
};

type Reading = { readonly value: string } | { readonly file: string; readonly value: string };
type Fault = { readonly variable: string; readonly wrong: string };

/** The largest file that is read (bytes). Larger than any valid value. */
const MAX_FILE_BYTES = 64 * 1024;

export const fileVariable = (name: string): string => `${name}_FILE`;

/** Reads all variables, and their files. White space around a value, such as the newline at the end of a file, is removed. */
export function readEnvironment(env: Environment): Given {
  const values: Record<string, string | undefined> = {};
  const files: Record<string, string> = {};
  const faults: Fault[] = [];
  for (const { name, default: initial } of variables) {
    const read = readOne(env, name);
    if (read === null) values[name] = initial ?? undefined;
    else if ("wrong" in read) {
      faults.push(read);
      // An empty value, so that it is not reported as missing too.
      values[name] = "";
    } else {
      values[name] = read.value;
      if ("file" in read) files[name] = read.file;
    }
  }
  // Without a proxy, NO_PROXY has no effect, so it is not checked: it is often set for the whole machine, in a form that only other programs
  // understand.
  if (values["HTTPS_PROXY"] === undefined && values["HTTP_PROXY"] === undefined)
    values["NO_PROXY"] = undefined;
  const spelled = Object.fromEntries(PROXY_VARIABLES.map((name) => [name, spelledIn(env, name)]));
  return { values, files, spelled, faults };
}

/** Reads one variable. Its value is null if it is not set. */
export function readGiven(env: Environment, name: Name): { readonly value: string | null } | Fault {
  return readOne(env, name) ?? { value: null };
}

function readOne(env: Environment, name: string): Reading | Fault | null {
  const own = spelledIn(env, name);
  const value = env[own]?.trim() ?? "";
  const variable = fileVariable(name);
  const file = env[variable]?.trim() ?? "";
  if (file === "") return value === "" ? null : { value };
  if (value !== "") return { variable, wrong: `is set beside ${own}: leave one of them out` };
  const read = readValue(file);
  return "value" in read ? { ...read, file } : { variable, wrong: `names ${shownPath(file)}, ${read.wrong}` };
}

/** For the proxies, the variable in lower case takes precedence, as in curl and undici. */
function spelledIn(env: Environment, name: string): string {
  const lower = name.toLowerCase();
  return PROXY_VARIABLES.includes(name) && (env[lower]?.trim() ?? "") !== "" ? lower : name;
}

/** Reads a file that contains one value. */
export function readValue(file: string): { readonly value: string } | { readonly wrong: string } {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > MAX_FILE_BYTES) return { wrong: "which is larger than 64 KiB" };
    // ASCII text in UTF-16 is also valid UTF-8, with a zero byte beside each letter.
    if (!isUtf8(bytes) || bytes.includes(0)) return { wrong: "which is not text in UTF-8" };
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

/** The variable may contain the secret itself by mistake, so only a value that looks like a path is repeated. */
const shownPath = (file: string): string =>
  /^(\.{0,2}\/|[A-Za-z]:\\)/.test(file)
    ? `the file ${file}`
    : "a file by a path that does not begin with / or ./";

// Finds variables that look like misspelled variables of ours. Otherwise a misspelled POLICY_FILE would lead to the built-in policy, which
// lets more people decide.

export type Misspelled = {
  readonly variable: string;
  /** The variables that may be meant. Empty if none is similar. */
  readonly meant: readonly string[];
};

/** Prefixes that other programs use too. They rarely use `OWN_PREFIXES`. */
const SHARED_PREFIXES = ["SLACK_", "AGENT_"];
const OWN_PREFIXES = ["AUDIT_", "POLICY_", "POLL_", "COUNTERSIGN_"];
const OURS = "COUNTERSIGN_";

const names: readonly string[] = variables.map(({ name }) => name);
const known = new Set(names.flatMap((name) => [name, fileVariable(name)]));
/** Without the proxies, because other programs read similar names such as FTP_PROXY, and names in lower case. */
const candidates = names.filter((name) => !PROXY_VARIABLES.includes(name));

/**
 * Returns variables that are set, are not ours, and resemble a variable of ours that is not set. If ours is set too, the other one belongs
 * to another program.
 */
export function findMisspelled(env: Environment): readonly Misspelled[] {
  const isSet = (name: string): boolean => (env[name]?.trim() ?? "") !== "";
  const open = candidates.filter((name) => !isSet(name) && !isSet(fileVariable(name)));
  return Object.keys(env)
    .filter((name) => isSet(name) && !known.has(name) && !isServiceLink(env, name))
    .flatMap((variable) => {
      const meant = meantBy(upperCase(variable), open);
      return meant === null ? [] : [{ variable, meant }];
    });
}

/** Describes the variable for people. Contains only names, because a value may be a secret. */
export function describeMisspelled({ variable, meant }: Misspelled): string {
  const words = `${variable} is set, and Countersign has no such variable`;
  return meant.length === 0 ? words : `${words}; ${meant.join(" or ")} may be meant`;
}

/** Kubernetes sets variables with the addresses of a namespace's services. For a service "countersign", they begin with our prefix. */
function isServiceLink(env: Environment, name: string): boolean {
  const service = /^(.+?)_(?:SERVICE_(?:HOST|PORT)|PORT)(?:_|$)/.exec(name)?.[1];
  return service !== undefined && env[`${service}_SERVICE_HOST`] !== undefined;
}

const upperCase = (name: string): string => name.toUpperCase().replaceAll(/[-.]/g, "_");

/** Returns the variables that may be meant. Returns null if the name has nothing to do with us. */
function meantBy(name: string, open: readonly string[]): readonly string[] | null {
  const bare = name.startsWith(OURS) ? name.slice(OURS.length) : name;
  const nameable = open.flatMap((each) => [each, fileVariable(each)]);
  if (nameable.includes(bare)) return [bare];
  const own = OWN_PREFIXES.find((each) => name.startsWith(each));
  const shared = SHARED_PREFIXES.some((each) => name.startsWith(each));
  const near = nameable.filter(
    (each) => distance(bare, each) <= tolerance(each) || ((own ?? shared) && sameWords(bare, each)),
  );
  if (near.length > 0) return near;
  if (own === undefined) return null;
  const siblings = open.filter((each) => each.startsWith(own));
  return siblings.length > 0 || own === OURS ? siblings : null;
}

/** Returns how many typos a name of this length may have. Short names resemble too many others. */
const tolerance = ({ length }: string): number => (length < 6 ? 0 : length < 10 ? 1 : 2);

/** Returns whether one name only omits words of the other, as in AGENT_KEY and SLACK_TOKEN. A single word is not enough. */
function sameWords(one: string, other: string): boolean {
  const [left, right] = [one.split("_"), other.split("_")];
  if (left.at(-1) !== right.at(-1) || Math.min(left.length, right.length) < 2) return false;
  return left.every((word) => right.includes(word)) || right.every((word) => left.includes(word));
}

/** Counts the characters that are missing, added, replaced or swapped with their neighbor (optimal string alignment). */
function distance(one: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let i = 1; i <= one.length; i += 1) {
    rows[i] = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = at(i - 1, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const swaps = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = swaps ? at(i - 2, j - 2) + 1 : Infinity;
      rows[i]?.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped));
    }
  }
  return at(one.length, other.length);
}
