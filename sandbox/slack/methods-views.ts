// Methods for modals and Home tabs.

import { Refused, refusedWith } from "./errors.ts";
import { viewJson } from "./slack-json.ts";
import { type Args, type Call, method, type Method, type Schema } from "./method.ts";
import type { HomeView, OpenView } from "./model.ts";
import { openModal, publishHome, pushModal, replaceModal } from "./views.ts";

/** docs.slack.dev: views need no scope. */
const described = { scopes: [], tier: "tier4", token: "bot", source: "slack-api-ref" } as const;

const triggered = {
  trigger_id: "string!",
  view: "object!",
  interactivity_pointer: "not imitated",
} satisfies Schema;

const open = method(described, triggered, (args, call) => {
  const trigger = call.triggers.look(args.trigger_id);
  const opened = openModal(call, trigger.person, args.view);
  trigger.used = true;
  return { view: viewJson(opened, call.workspace) };
});

const push = method(described, triggered, (args, call) => {
  const trigger = call.triggers.look(args.trigger_id);
  if (trigger.view === null || !call.workspace.viewById(trigger.view)) throw new Refused("not_found");
  const pushed = pushModal(call, trigger.person, args.view);
  trigger.used = true;
  return { view: viewJson(pushed, call.workspace) };
});

const updateArgs = {
  view: "object!",
  view_id: "string",
  external_id: "string",
  hash: "string",
} satisfies Schema;

function target(args: Args<typeof updateArgs>, { workspace }: Call): OpenView | HomeView {
  if (args.view_id === undefined && args.external_id === undefined)
    throw refusedWith("invalid_arguments", ["missing required field: view_id or external_id"]);
  const all = [...workspace.views, ...workspace.homes.values()];
  const found = all.find((one) =>
    args.view_id === undefined ? one.view["external_id"] === args.external_id : one.id === args.view_id,
  );
  if (!found) throw new Refused("not_found");
  return found;
}

function refuseStale(hash: string | undefined, current: string | undefined): void {
  if (hash !== undefined && hash !== current) throw new Refused("hash_conflict");
}

const update = method(described, updateArgs, (args, call) => {
  const found = target(args, call);
  refuseStale(args.hash, found.hash);
  const updated =
    "errors" in found ? replaceModal(call, found, args.view) : publishHome(call, found.person, args.view);
  return { view: viewJson(updated, call.workspace) };
});

const publishArgs = {
  user_id: "string!",
  view: "object!",
  hash: "string",
  interactivity_pointer: "not imitated",
} satisfies Schema;

const publish = method(described, publishArgs, (args, call) => {
  const { workspace } = call;
  if (!call.manifest.homeTab) throw new Refused("not_enabled");
  const person = workspace.people.get(args.user_id);
  if (!person || person.kind === "bot") throw refusedWith("invalid_arguments", ["invalid `user_id`"]);
  refuseStale(args.hash, workspace.homes.get(args.user_id)?.hash);
  return { view: viewJson(publishHome(call, args.user_id, args.view), workspace) };
});

export const viewMethods: Record<string, Method> = {
  "views.open": open,
  "views.push": push,
  "views.update": update,
  "views.publish": publish,
};
