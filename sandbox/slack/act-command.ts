// A person types a slash command. Slack does not offer an app's commands to people of other workspaces. The sandbox lets them try, because
// no app should rely on that.

import { type Acting, channelName, done, failureCode, failed, failPrivately, writerIn } from "./acting.ts";
import { entities } from "./content.ts";
import { Refused } from "./errors.ts";
import type { ActResult, Acts, Channel, Person } from "./model.ts";
import { respond } from "./response-url.ts";
import type { Json } from "./json-object.ts";

export const createCommand =
  (acting: Acting): Acts["command"] =>
  async (personId, channelId, command, text) => {
    const found = writerIn(acting, personId, channelId);
    if (typeof found === "string") return failed(found);
    const known = acting.manifest.commands.get(command);
    if (!known) return failPrivately(acting, personId, channelId, `${command} is not a valid command.`);
    // Third party: bots decode the entities, with and without should_escape (for example, the HTCondor Slack bot).
    const typed = entities(text);
    const sent = known.escape ? named(acting, typed) : typed;
    const body = { ...bodyOf(acting, found.person, found.channel), command, text: sent };
    const outcome = await acting.deliver({ kind: "slash_commands", body });
    if (!outcome.ok)
      return failPrivately(acting, personId, channelId, failureWords(command, failureCode(outcome)));
    return answer(acting, { person: personId, channel: channelId, command }, outcome.ack);
  };

const failureWords = (command: string, code: string): string => `${command} failed with the error "${code}"`;

const bodyOf = (acting: Acting, person: Person, channel: Channel): Json => ({
  token: "deprecated",
  team_id: person.team,
  team_domain: person.team === acting.workspace.team.id ? acting.workspace.team.domain : "partner",
  channel_id: channel.id,
  channel_name: channelName(channel),
  user_id: person.id,
  user_name: person.handle,
  api_app_id: acting.workspace.app.id,
  is_enterprise_install: "false",
  response_url: acting.responseUrls.issue({ person: person.id, channel: channel.id, message: null }),
  trigger_id: acting.triggers.issue(person.id),
});

/** docs.slack.dev, should_escape: names of people, user groups and channels are sent as ids. */
const named = ({ workspace }: Acting, text: string): string =>
  text
    .replace(/@([\w.-]+)/g, (typed, handle: string) => {
      const person = [...workspace.people.values()].find((one) => one.handle === handle);
      if (person) return `<@${person.id}|${handle}>`;
      const group = [...workspace.usergroups.values()].find((one) => one.handle === handle && !one.disabled);
      return group ? `<!subteam^${group.id}|@${handle}>` : typed;
    })
    .replace(/#([\w-]+)/g, (typed, name: string) => {
      const channel = [...workspace.channels.values()].find((one) => one.name === name);
      return channel ? `<#${channel.id}|${name}>` : typed;
    });

type Typed = { readonly person: string; readonly channel: string; readonly command: string };

/** An acknowledgement that contains a message works like an answer to the response_url. */
function answer(acting: Acting, { person, channel, command }: Typed, ack: Json): ActResult {
  if (ack["text"] === undefined && ack["blocks"] === undefined) return done;
  try {
    respond(acting.workspace, { person, channel, message: null }, ack);
    return done;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    acting.traffic.add("app", `acknowledgement of ${command}`, { ack, ...error.more }, error.code);
    return failPrivately(acting, person, channel, failureWords(command, error.code));
  }
}
