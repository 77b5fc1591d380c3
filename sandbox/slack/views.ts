// Opens, pushes and replaces modals, and publishes Home tabs. The Web API and acknowledgements both use these functions.

import type { SlackContext } from "./slack-context.ts";
import { Refused } from "./errors.ts";
import type { HomeView, OpenView, PersonId } from "./model.ts";
import type { Json } from "./json-object.ts";
import { acceptView } from "./rules-surface.ts";

/** docs.slack.dev, modals: three views in a stack. */
const maxStack = 3;

type Place = Pick<SlackContext, "workspace">;

/** docs.slack.dev: an external_id is unique in the workspace. */
function refuseTakenId({ workspace }: Place, view: Json, own?: string): void {
  const id = view["external_id"];
  if (typeof id !== "string" || id === "") return;
  if (
    [...workspace.views, ...workspace.homes.values()].some(
      (one) => one.id !== own && one.view["external_id"] === id,
    )
  )
    throw new Refused("duplicate_external_id");
}

/** Opens a modal. It replaces all open modals of the person, who has only one stack. */
export function openModal(place: Place, person: PersonId, input: Json): OpenView {
  const view = acceptView(input, "modal");
  refuseTakenId(place, view);
  place.workspace.closeViews(person, place.workspace.viewsOf(person));
  return place.workspace.pushView(person, view);
}

export function pushModal(place: Place, person: PersonId, input: Json): OpenView {
  const view = acceptView(input, "modal");
  const stack = place.workspace.viewsOf(person);
  if (stack.length === 0) throw new Refused("not_found");
  if (stack.length >= maxStack) throw new Refused("push_limit_reached");
  refuseTakenId(place, view);
  return place.workspace.pushView(person, view);
}

export function replaceModal(place: Place, open: OpenView, input: Json): OpenView {
  const view = acceptView(input, "modal");
  refuseTakenId(place, view, open.id);
  place.workspace.changeView(open, { view, errors: {}, trouble: null });
  return open;
}

export function publishHome(place: Place, person: PersonId, input: Json): HomeView {
  const view = acceptView(input, "home");
  refuseTakenId(place, view, place.workspace.homes.get(person)?.id);
  return place.workspace.publishHome(person, view);
}
