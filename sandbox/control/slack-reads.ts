// Reads of Slack: people, channels, messages, windows, Home tabs and traffic.

import { z } from "zod";
import type { HomeView, Message, OpenView } from "../slack/model.ts";
import type { Slack } from "../slack/start-slack.ts";
import { type ControlRead, listRead, plainRead } from "./control-api.ts";
import { channelCalled, personCalled } from "./find-by-name.ts";
import { slackState } from "./slack-state.ts";
import { fieldsIn, type Usable, usableIn, viewWords, wordsOf } from "./surface-text.ts";

const contains = z.string().exactOptional().describe("only items that contain this text");
const person = z.string().exactOptional().describe("id, handle or name");

export function slackReads(slack: Slack): readonly ControlRead[] {
  return [worldRead(slack), messagesRead(slack), viewsRead(slack), homesRead(slack), trafficRead(slack)];
}

function worldRead(slack: Slack): ControlRead {
  const { workspace, sockets } = slack;
  return plainRead(
    "/control/world",
    "the people, channels and user groups, whether the app is connected, the faults that wait, whether rate limits are on, and the scopes that the app lacks",
    () => ({
      team: workspace.team,
      app: workspace.app,
      connections: sockets.connections(),
      now: workspace.now(),
      people: [...workspace.people.values()],
      channels: [...workspace.channels.values()],
      usergroups: Object.fromEntries(workspace.usergroups),
      ...slackState(slack),
    }),
  );
}

function messagesRead({ workspace }: Slack): ControlRead {
  const query = z.strictObject({
    channel: z.string().exactOptional().describe("id or name; `dm:ben` for Ben's direct messages"),
    after: z.string().exactOptional().describe("only messages with a later `ts`"),
    thread: z
      .string()
      .exactOptional()
      .describe("only messages of this thread, given by the `ts` of its first message"),
    person: person.describe("only what this person can see, including private messages to them"),
    contains,
  });
  const named = { path: "/control/messages", what: "all messages, as they read now", query };
  return listRead(named, "messages", ({ channel, after = "", thread, person, contains = "" }) => {
    const where = channel === undefined ? null : channelCalled(workspace, channel).id;
    const who = person === undefined ? null : personCalled(workspace, person).id;
    const sees = ({ channel, ephemeralFor }: Message): boolean =>
      who === null ||
      (workspace.channels.get(channel)?.members.includes(who) === true && [null, who].includes(ephemeralFor));
    return workspace.messages
      .filter((each) => (where === null || each.channel === where) && sees(each))
      .filter((each) => Number(each.ts) > Number(after))
      .filter((each) => thread === undefined || each.thread === thread || each.ts === thread)
      .map((each) => messageJson(each))
      .filter(({ words }) => words.includes(contains));
  });
}

function messageJson(message: Message) {
  const { blocks, text } = message;
  const words = blocks.length === 0 ? text : wordsOf(blocks);
  return { ...message, words, buttons: usableIn(blocks).map(({ label }) => label) };
}

function viewsRead({ workspace }: Slack): ControlRead {
  const query = z.strictObject({ person, contains });
  const named = {
    path: "/control/views",
    what: "the windows that people have open; the topmost of each person is last",
    query,
  };
  return listRead(named, "views", ({ person, contains = "" }) => {
    const who = person === undefined ? null : personCalled(workspace, person).id;
    return workspace.views
      .filter((each) => who === null || each.person === who)
      .map((each) => viewJson(each))
      .filter(({ words }) => words.includes(contains));
  });
}

function viewJson({ id, person, view, errors = {}, ...rest }: HomeView & Partial<OpenView>) {
  return {
    id,
    person,
    title: wordsOf(view["title"]),
    words: viewWords({ view, errors, ...rest }),
    buttons: usableIn(view.blocks).map(({ label }) => label),
    fields: fieldsIn(view.blocks).map((each) => fieldJson(each)),
    /** The label of the submit button. Null if the window has none. */
    submit: view["submit"] === undefined ? null : wordsOf(view["submit"]),
    errors,
    view,
  };
}

function fieldJson({ label, block, element }: Usable) {
  const { type, action_id } = element;
  return { label, type, block: block.block_id, action: action_id, optional: block["optional"] === true };
}

function homesRead({ workspace }: Slack): ControlRead {
  const query = z.strictObject({ person });
  const named = { path: "/control/homes", what: "the Home tabs that the app has published", query };
  return listRead(named, "homes", ({ person }) => {
    const who = person === undefined ? null : personCalled(workspace, person).id;
    return [...workspace.homes.values()]
      .filter((each) => who === null || each.person === who)
      .map((each) => viewJson(each));
  });
}

function trafficRead({ traffic }: Slack): ControlRead {
  const query = z.strictObject({
    after: z.coerce.number().int().min(0).default(0).describe("only lines with a higher number"),
    from: z.enum(["app", "slack", "service", "person"]).exactOptional(),
    refused: z.stringbool().exactOptional().describe("true: only refused calls"),
    contains: contains.describe("only lines whose `what` contains this text"),
  });
  const named = { path: "/control/traffic", what: "what went over the wire, with secrets masked", query };
  return listRead(named, "traffic", ({ after, from, refused, contains = "" }) => {
    return traffic
      .after(after)
      .filter((line) => from === undefined || line.from === from)
      .filter((line) => refused === undefined || (line.refused !== null) === refused)
      .filter(({ what }) => what.includes(contains));
  });
}
