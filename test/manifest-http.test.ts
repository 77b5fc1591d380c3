// Generates manifest.http.yml from manifest.yml and compares. After a change of manifest.yml: npx vitest run test/manifest-http.test.ts
// --update

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Document, isMap, isSeq, parse, parseDocument } from "yaml";
import { z } from "zod";
import { readManifest } from "#sandbox/slack/manifest.ts";
import { EVENTS_PATH } from "#src/adapters/slack/request-verifier.ts";

const at = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(at(name), "utf8");
const NAMES = ["manifest.yml", "manifest.http.yml"] as const;

/** The example host, which each installation replaces with its own. */
const ADDRESS = `https://countersign.example.com${EVENTS_PATH}`;

const HEADER = ` The Slack app for HTTP mode, generated from manifest.yml, which is for Socket Mode. Replace countersign.example.com with the host of your
 proxy, then paste this at api.slack.com/apps → Create New App → From a manifest (docs/install.md).`;

function httpManifest(): string {
  const document: Document = parseDocument(read("manifest.yml"));
  document.commentBefore = HEADER;
  const first = isMap(document.contents) ? document.contents.items[0]?.key : null;
  if (first !== null && typeof first === "object" && first !== undefined)
    Object.assign(first, { commentBefore: null });
  const commands = document.getIn(["features", "slash_commands"]);
  if (!isSeq(commands)) throw new Error("the manifest has no commands");
  for (const index of commands.items.keys()) commands.setIn([index, "url"], ADDRESS);
  // Slack's editor puts the address before the events.
  const events: unknown = document.getIn(["settings", "event_subscriptions"]);
  if (!isMap(events)) throw new Error("the manifest has no events");
  events.items.unshift(document.createPair("request_url", ADDRESS));
  document.setIn(["settings", "interactivity", "request_url"], ADDRESS);
  document.setIn(["settings", "socket_mode_enabled"], false);
  return document.toString({ lineWidth: 0 });
}

const Manifest = z.object({
  features: z.object({ slash_commands: z.array(z.object({ url: z.url().optional() })) }),
  settings: z.object({
    event_subscriptions: z.object({ request_url: z.url().optional(), bot_events: z.array(z.string()) }),
    interactivity: z.object({ is_enabled: z.boolean(), request_url: z.url().optional() }),
    socket_mode_enabled: z.boolean(),
  }),
});
type Manifest = z.infer<typeof Manifest>;
const manifestIn = (text: string): Manifest => Manifest.parse(parse(text));

/**
 * Returns the places that have neither an address nor Socket Mode. Slack refuses such a manifest: "Event Subscription requires either
 * Request URL or Socket Mode Enabled", and similarly for commands and interactivity. Slack's JSON schema does not express this rule.
 */
function placesWithoutAddress({ features, settings }: Manifest): string[] {
  const { event_subscriptions: events, interactivity, socket_mode_enabled: socket } = settings;
  const without = (place: string, used: boolean, url?: string): string[] =>
    used && !socket && url === undefined ? [place] : [];
  return [
    ...without("events", events.bot_events.length > 0, events.request_url),
    ...without("interactivity", interactivity.is_enabled, interactivity.request_url),
    ...features.slash_commands.flatMap(({ url }) => without("command", true, url)),
  ];
}

test("manifest.http.yml matches manifest.yml", async () => {
  await expect(httpManifest()).toMatchFileSnapshot(at("manifest.http.yml"));
});

describe("Slack's rule that everything has an address or Socket Mode is on", () => {
  test.each(NAMES)("holds in %s", (name) => {
    expect(placesWithoutAddress(manifestIn(read(name)))).toEqual([]);
  });

  test.each([
    ["events", /^ {4}request_url: .*\n(?= {4}bot_events)/m],
    ["interactivity", /(?<=is_enabled: true\n) {4}request_url: .*\n/m],
    ["command", /^ {6}url: .*\n/m],
  ])("is broken if the address of %s is missing", (place, line) => {
    const text = read("manifest.http.yml");
    expect(text).toMatch(line);
    expect(placesWithoutAddress(manifestIn(text.replace(line, "")))).toEqual([place]);
  });
});

test("both manifests describe one app, with the same scopes, events, commands and surfaces", () => {
  const [socket, http] = NAMES.map((name) => readManifest(at(name)));
  expect(http).toEqual(socket);
});

test("every address is the path at which the bot answers Slack", () => {
  const found = [...read("manifest.http.yml").matchAll(/url: (\S+)/g)].map(([, url = ""]) => url);
  expect(found).toEqual([ADDRESS, ADDRESS, ADDRESS]);
});

describe("docs/install.md", () => {
  const page = read("docs/install.md");

  test("explains each scope", () => {
    const named = [...page.matchAll(/^\| `([a-z_]+(?::[a-z]+)?)` \|/gm)].map(([, scope]) => scope);
    expect(named).toEqual(readManifest(at("manifest.yml")).scopes);
  });

  test("has a command that puts the host into all addresses", () => {
    const [, from = "", to = ""] = /sed 's\/(.*?)\/(.*?)\/' manifest\.http\.yml/.exec(page) ?? [];
    expect(to).toBe("<your host>");
    const made = read("manifest.http.yml")
      .split("\n")
      .map((line) => line.replace(new RegExp(from), "bot.example.org"));
    const urls = made.filter((line) => /^ *(request_)?url: /.test(line));
    expect(urls).toHaveLength(3);
    for (const line of urls) expect(line).toContain("url: https://bot.example.org/slack/events");
  });
});
