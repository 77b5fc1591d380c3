// A person writes a message, or opens the app's Home tab.

import { type Acting, actor, done, failed, writerIn } from "./acting.ts";
import { typed } from "./content.ts";
import { viewJson } from "./slack-json.ts";
import type { ActResult, Acts, PersonId } from "./model.ts";

export const createSay =
  (acting: Acting): Acts["say"] =>
  async (personId, channelId, text, thread) => {
    const found = writerIn(acting, personId, channelId);
    if (typeof found === "string") return failed(found);
    if (text.trim() === "") return failed("There is nothing to send.");
    const { workspace } = acting;
    const parent = thread === undefined ? null : workspace.messageAt(channelId, thread);
    if (parent === undefined) return failed("This thread no longer exists.");
    const root = parent?.thread ?? parent?.ts ?? null;
    acting.traffic.add("person", `says as ${personId}`, { channel: channelId, text });
    workspace.post({ channel: channelId, author: personId, text: typed(workspace, text), thread: root });
    return done;
  };

export const createOpenHome =
  (acting: Acting) =>
  async (personId: PersonId): Promise<ActResult> => {
    const person = actor(acting, personId);
    if (typeof person === "string") return failed(person);
    if (!acting.manifest.homeTab) return failed("This app has no Home tab.");
    const { workspace } = acting;
    const home = workspace.homes.get(personId);
    await acting.events.send("app_home_opened", {
      type: "app_home_opened",
      user: personId,
      channel: workspace.dmOf(personId).id,
      tab: "home",
      ...(home && { view: viewJson(home, workspace) }),
    });
    return done;
  };
