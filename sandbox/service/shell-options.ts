// The options of `npm run service` in one table, for --help and for checking the arguments.

import { parseArgs } from "node:util";
import { canBeKey } from "./api-keys.ts";
import type { Profile } from "./profile.ts";
import { profileTable, switchFault } from "./profile-table.ts";
import { tasks } from "./tasks.ts";

type Option = { readonly takes: string; readonly what: string; readonly usual: string | null };

const table = {
  port: { takes: "n", what: "the service's port; 0: any free port", usual: "4010" },
  "gateway-port": { takes: "n", what: "the gateway's port; 0: any free port", usual: "4011" },
  key: { takes: "key", what: "the service's API key; default: a random key", usual: null },
  "gateway-key": {
    takes: "key",
    what: "a key of the gateway; can be repeated; default: one random key",
    usual: null,
  },
  state: {
    takes: "file",
    what: "keeps the state across restarts, in this file and <file>.gateway",
    usual: null,
  },
  tempo: {
    takes: "factor",
    what: "scales all durations: 0.1 is ten times as fast, 0 does not wait",
    usual: "1",
  },
  "token-ms": {
    takes: "ms",
    what: "the pause between two tokens of a stream, scaled by the tempo",
    usual: "20",
  },
  "gateway-limit": { takes: "n", what: "requests per minute for each gateway key; 0: no limit", usual: "0" },
  "control-port": {
    takes: "n",
    what: "also serves the control API on this port; see docs/development/service.md",
    usual: null,
  },
  profile: { takes: "switch=value", what: "one of the switches below; can be repeated", usual: null },
  help: { takes: "", what: "prints this text", usual: null },
} satisfies Readonly<Record<string, Option>>;

type Name = keyof typeof table;
const names = Object.keys(table) as Name[];
const repeated: readonly Name[] = ["gateway-key", "profile"];

export type Wanted = {
  readonly port: number;
  readonly gatewayPort: number;
  readonly key: string | null;
  readonly gatewayKeys: readonly string[] | null;
  readonly state: string | null;
  readonly tempo: number;
  readonly tokenMs: number;
  readonly requestsPerMinute: number | null;
  /** Null to start without the control API. */
  readonly controlPort: number | null;
  readonly profile: Partial<Profile>;
};

/** Reads the options. Throws an error with one line for each problem. */
export function readOptions(args: readonly string[]): Wanted | "help" {
  const { values } = parseArgs({ args: [...args], options: parsing() });
  if (values["help"] === true) return "help";
  const faults: string[] = [];
  const words = (name: Name) => listOf(values[name]);
  const fault = (said: string | null) => void (said === null || faults.push(said));
  const number = (name: Name, max: number) => {
    const text = words(name)[0] ?? table[name].usual ?? "";
    const value = Number(text);
    const wrong = text.trim() === "" || !(value >= 0 && value <= max);
    fault(wrong ? `--${name} must be a number from 0 to ${max}; given: "${text}".` : null);
    return value;
  };
  const limit = number("gateway-limit", 1_000_000);
  const wanted = {
    port: number("port", 65_535),
    gatewayPort: number("gateway-port", 65_535),
    key: words("key")[0] ?? null,
    gatewayKeys: words("gateway-key").length === 0 ? null : words("gateway-key"),
    state: words("state")[0] ?? null,
    tempo: number("tempo", 1000),
    tokenMs: number("token-ms", 60_000),
    requestsPerMinute: limit === 0 ? null : limit,
    controlPort: words("control-port").length === 0 ? null : number("control-port", 65_535),
    profile: profileIn(words("profile"), fault),
  };
  if (!words("key").concat(words("gateway-key")).every(canBeKey)) {
    fault("A key must consist of visible ASCII characters without spaces: a header cannot contain others.");
  }
  if (wanted.state === "") fault("--state must name a file.");
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return wanted;
}

const listOf = (value: string | boolean | (string | boolean)[] | undefined): string[] =>
  [value ?? []].flat().map(String);

function parsing() {
  return Object.fromEntries(
    names.map((name) => [
      name,
      { type: name === "help" ? "boolean" : "string", multiple: repeated.includes(name) } as const,
    ]),
  );
}

function profileIn(given: readonly string[], fault: (said: string | null) => void): Partial<Profile> {
  const pairs = given.map((text): [string, unknown] => {
    const [name = "", value] = text.split(/=(.*)/s);
    if (value === undefined)
      fault(`--profile takes switch=value, for example denyWord=reject; given: "${text}".`);
    const meant = valueFor(name, value ?? "");
    if (value !== undefined) fault(withExample(switchFault(name, meant), name));
    return [name, meant];
  });
  return Object.fromEntries(pairs);
}

const withExample = (said: string | null, name: string): string | null =>
  said === null || profileTable.some((one) => one.name === name)
    ? said
    : `${said} --help lists all switches.`;

/** Converts numbers, true, false and null if the switch accepts them. Otherwise returns the text itself. */
function valueFor(name: string, text: string): unknown {
  const literal: unknown = /^(true|false|null|0|[1-9]\d*)$/.test(text) ? JSON.parse(text) : text;
  return switchFault(name, literal) === null ? literal : text;
}

export function helpText(): string {
  const options = names.map((name) => {
    const { takes, what, usual } = table[name];
    const shown = `--${name}${takes === "" ? "" : ` <${takes}>`}`;
    return `  ${shown.padEnd(26)} ${what}${usual === null ? "" : ` (${usual})`}`;
  });
  const switches = profileTable.map(
    ({ name, what, allowed, usual, breaks }) =>
      `  ${name.padEnd(22)} ${what}\n${" ".repeat(25)}${allowed} (${usual})${breaks.length === 0 ? "" : `; breaks the document: ${breaks.join(", ")}`}`,
  );
  const words = tasks.map(({ words, what }) => `  ${words.padEnd(22)} ${what}`);
  return [
    "Runs the reference agent-run service and the token gateway. Only this machine can reach them.",
    `Options, with their defaults:\n\n${options.join("\n")}`,
    "The usage report of the gateway is printed on the signal SIGUSR2, and at the end.",
    `Switches for behavior that the interface document leaves open. Some values break the document on purpose:\n\n${switches.join("\n")}`,
    `Words in a task that select what its run does:\n\n${words.join("\n")}\n`,
  ].join("\n\n");
}
