// The page's POST requests. Each is an act of one person.
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { ActResult, Block } from "../slack/model.ts";
import { slackbot } from "../slack/seed-workspace.ts";
import type { PageParts } from "./base/parts.ts";
import { chosenAt, drawnIn, valuesOf } from "./drawing/choices.ts";
import { bodyOf } from "./request-check.ts";

const fields = z.array(z.tuple([z.string(), z.string()]));
const at = z.union([z.object({ view: z.string() }), z.object({ channel: z.string(), ts: z.string() })]);

const act = z.discriminatedUnion("do", [
  z.object({
    do: z.literal("say"),
    person: z.string(),
    channel: z.string(),
    thread: z.string(),
    text: z.string(),
  }),
  z.object({
    do: z.literal("click"),
    person: z.string(),
    at,
    block: z.string(),
    action: z.string(),
    chosen: z.array(z.string()),
    /** The fields of the form around it. */
    fields: fields.default([]),
  }),
  z.object({
    do: z.literal("shortcut"),
    person: z.string(),
    at: z.object({ channel: z.string(), ts: z.string() }),
    shortcut: z.string(),
  }),
  z.object({ do: z.literal("submit"), person: z.string(), view: z.string(), fields }),
  z.object({ do: z.literal("close"), person: z.string(), view: z.string() }),
]);

type Act = z.infer<typeof act>;

const failed = (text: string): ActResult => ({ ok: false, error: text });

/** Resolves to undefined if the body is not a valid act. */
export async function perform(parts: PageParts, req: IncomingMessage): Promise<ActResult | undefined> {
  const parsed = act.safeParse(await bodyOf(req));
  return parsed.success ? route(parts, parsed.data) : undefined;
}

function route(parts: PageParts, asked: Act): Promise<ActResult> | ActResult {
  switch (asked.do) {
    case "say":
      return say(parts, asked);
    case "click":
      return click(parts, asked);
    case "shortcut":
      return parts.useShortcut(asked.person, asked.shortcut, asked.at);
    case "submit": {
      const open = parts.workspace.viewById(asked.view);
      if (open?.person !== asked.person) return failed("This window is no longer open.");
      return parts.acts.submit(asked.person, open.id, valuesOf(open.view.blocks, asked.fields));
    }
    case "close":
      return parts.acts.close(asked.person, asked.view);
  }
}

function say(parts: PageParts, asked: Extract<Act, { do: "say" }>): Promise<ActResult> | ActResult {
  const { person, channel, thread, text } = asked;
  if (text.trim() === "") return failed("There is nothing to send.");
  const [, command, rest = ""] = /^(\/\S+)(?:\s([\s\S]*))?$/.exec(text) ?? [];
  if (command === undefined) return parts.acts.say(person, channel, text, thread || undefined);
  if (thread !== "") return failed("Slack has no slash commands in threads. Type it in the channel.");
  if (parts.commands.some((one) => one.command === command)) {
    return parts.acts.command(person, channel, command, rest);
  }
  if (command === "/invite") return invite(parts, asked, rest);
  return failed(
    `${command} is not a command here. Known commands: ${parts.commands.map((one) => one.command).join(", ")}.`,
  );
}

/** Slack's built-in command, which adds a person or an app to the channel. Only members of the channel may use it. */
function invite({ workspace }: PageParts, asked: Extract<Act, { do: "say" }>, rest: string): ActResult {
  const channel = workspace.channels.get(asked.channel);
  const handle = rest.trim().replace(/^@/, "");
  const invited = [...workspace.people.values()].find((one) => one.handle === handle);
  if (channel === undefined || !channel.members.includes(asked.person))
    return failed("You are not in this channel.");
  if (invited === undefined) return failed(`There is no person or app @${handle} here.`);
  if (channel.members.includes(invited.id)) return failed(`${invited.name} is already in this channel.`);
  channel.members.push(invited.id);
  workspace.changed({ kind: "channel", channel: channel.id, joined: invited.id });
  workspace.post({ channel: channel.id, author: slackbot, text: `${invited.name} joined #${channel.name}` });
  return { ok: true };
}

function click(parts: PageParts, asked: Extract<Act, { do: "click" }>): Promise<ActResult> | ActResult {
  const found = chosenAt(blocksAt(parts, asked), asked, asked.chosen);
  if (found === undefined) return failed("What you pressed has changed since. Look at it again.");
  keepTyped(parts, asked);
  return parts.acts.click(asked.person, asked.at, asked.block, asked.action, found.chosen);
}

function keepTyped({ workspace }: PageParts, { at, person, fields }: Extract<Act, { do: "click" }>): void {
  const open = "view" in at ? workspace.viewById(at.view) : undefined;
  if (open?.person === person) workspace.typeInto(open, valuesOf(drawnIn(open.view.blocks, fields), fields));
}

function blocksAt({ workspace }: PageParts, asked: Extract<Act, { do: "click" }>): readonly Block[] {
  if ("ts" in asked.at) return workspace.messageAt(asked.at.channel, asked.at.ts)?.blocks ?? [];
  const open = workspace.viewById(asked.at.view);
  return open?.view.blocks ?? workspace.homes.get(asked.person)?.view.blocks ?? [];
}
