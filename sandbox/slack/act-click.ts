// A person uses an element in a message, a modal or the Home tab.

import { actor, done, interaction, failed } from "./acting.ts";
import type { Acting } from "./acting.ts";
import type { Acts } from "./model.ts";
import { offered } from "./offered.ts";
import type { Json } from "./json-object.ts";
import { chosenIn } from "./state-values.ts";
import type { Found } from "./state-values.ts";
import { elementAt, surfaceAt } from "./surface.ts";
import type { Kept } from "./surface.ts";

export function createClick(acting: Acting): Acts["click"] {
  const kept: Kept = new WeakMap();
  return async (personId, at, ...[blockId, actionId, chosen]) => {
    const person = actor(acting, personId);
    if (typeof person === "string") return failed(person);
    if (!acting.manifest.interactive)
      return failed("This app is not configured to handle interactive responses.");
    const surface = surfaceAt(acting, person, at, kept);
    const found = surface && elementAt(surface, blockId, actionId);
    if (!surface || !found) return failed("This is no longer here: it has changed since you looked at it.");
    if (!offered(acting, found.element, chosen, person)) return failed("This choice is not offered here.");
    if (found.element.type !== "button")
      surface.values[blockId] = { ...surface.values[blockId], [actionId]: chosen };
    // docs.slack.dev, input block: its element sends no action unless `dispatch_action` is set.
    if (found.block["type"] === "input" && found.block["dispatch_action"] !== true) return done;
    const body = {
      type: "block_actions",
      ...interaction(acting, person),
      ...surface.place(),
      ...surface.offers(),
      actions: [actionOf(acting, found, chosen)],
    };
    const outcome = await acting.deliver({ kind: "interactive", body });
    return outcome.ok ? done : failed(warning[outcome.why]);
  };
}

const warning = {
  timeout: "⚠ The app did not answer in time. Try again.",
  unreachable: "⚠ The app cannot be reached. Try again.",
  http_error: "⚠ The app answered with an error. Try again.",
};

/** The fields of the element that the action repeats, in addition to the choice (@slack/bolt, BlockElementAction). */
const echoed: Record<string, readonly string[]> = {
  button: ["text", "value", "style", "url"],
};

function actionOf({ workspace }: Acting, { block, element }: Found, chosen: unknown): Json {
  const { type, action_id } = element;
  const common = { type, action_id, block_id: block.block_id, action_ts: workspace.nextTs() };
  const own = Object.entries(element).filter(([field]) => (echoed[type] ?? ["placeholder"]).includes(field));
  return { ...common, ...Object.fromEntries(own), ...(!(type in echoed) && chosenIn(element, chosen)) };
}
