// A person uses one of the app's shortcuts, either a global one or one on a message.

import { actor, actorIn, channelName, done, failureCode, interaction, failed } from "./acting.ts";
import type { Acting } from "./acting.ts";
import type { ActResult, ChannelId, Person, PersonId } from "./model.ts";
import type { Json } from "./json-object.ts";
import { messageJson } from "./slack-json.ts";

type On = { readonly channel: ChannelId; readonly ts: string };

export const createShortcut =
  (acting: Acting) =>
  async (personId: PersonId, callbackId: string, on?: On): Promise<ActResult> => {
    const person = on ? actorIn(acting, personId, on.channel) : actor(acting, personId);
    if (typeof person === "string") return failed(person);
    if (acting.manifest.shortcuts.get(callbackId)?.type !== (on ? "message" : "global"))
      return failed("This app has no such shortcut.");
    if (!acting.manifest.interactive)
      return failed("This app is not configured to handle interactive responses.");
    const who = "person" in person ? person.person : person;
    const place = on ? onMessage(acting, who, on) : fromAnywhere(who);
    if (!place) return failed("This message no longer exists.");
    // Unlike other interactions, shortcuts do not name the app (docs.slack.dev, shortcuts payload; third party: recorded payloads).
    const { api_app_id: _unnamed, ...common } = interaction(acting, who);
    const body = {
      ...common,
      callback_id: callbackId,
      trigger_id: acting.triggers.issue(who.id),
      action_ts: acting.workspace.nextTs(),
      ...place,
    };
    acting.traffic.add("person", `${who.id} uses the shortcut ${callbackId}`, on ?? {});
    const outcome = await acting.deliver({ kind: "interactive", body });
    return outcome.ok ? done : failed(`The shortcut failed with the error "${failureCode(outcome)}"`);
  };

/** docs.slack.dev, shortcuts payload: the user object has no `name`. */
const fromAnywhere = ({ id, handle, team }: Person): Json => ({
  type: "shortcut",
  user: { id, username: handle, team_id: team },
});

/** The format is MessageShortcut of @slack/bolt. */
function onMessage(acting: Acting, person: Person, { channel: id, ts }: On): Json | null {
  const channel = acting.workspace.channels.get(id);
  const message = acting.workspace.messageAt(id, ts);
  if (!channel || !message || message.ephemeralFor !== null) return null;
  return {
    type: "message_action",
    message_ts: ts,
    message: messageJson(message, acting),
    channel: { id, name: channelName(channel) },
    response_url: acting.responseUrls.issue({ person: person.id, channel: id, message: null }),
  };
}
