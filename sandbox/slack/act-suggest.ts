// A person opens an external select, or types in it, and the app returns the options.

import { type Acting, actor, interaction, failed } from "./acting.ts";
import { Refused } from "./errors.ts";
import type { ActResult, Person, PersonId } from "./model.ts";
import { complaints, isJson, type Json, list } from "./rules-check.ts";
import { menuOption, optionGroup } from "./rules-fields.ts";
import { optionsOf } from "./state-values.ts";
import { type At, elementAt, surfaceAt } from "./surface.ts";

export type Suggestion = ActResult | { readonly ok: true; readonly options: readonly Json[] };

type Element = { readonly block: string; readonly action: string };

export const suggestionKey = (person: Person, at: At, ...element: readonly string[]): string =>
  JSON.stringify([person.id, "view" in at ? at.view : `${at.channel} ${at.ts}`, ...element]);

const trouble = "⚠ The options could not be loaded. Try again.";

/** @slack/types, ExternalSelect: after how many characters Slack asks; 3 when the element does not say (docs.slack.dev). */
const usualQuery = 3;

export const createSuggest =
  (acting: Acting) =>
  async (personId: PersonId, at: At, { block, action }: Element, typed: string): Promise<Suggestion> => {
    const person = actor(acting, personId);
    if (typeof person === "string") return failed(person);
    const surface = surfaceAt(acting, person, at, new WeakMap());
    const found = surface && elementAt(surface, block, action);
    if (!surface || !found || !/^(multi_)?external_select$/.test(found.element.type))
      return failed("This is no longer here: it has changed since you looked at it.");
    if (typed.length < Number(found.element["min_query_length"] ?? usualQuery))
      return { ok: true, options: [] };
    const body = {
      type: "block_suggestion",
      ...interaction(acting, person),
      ...surface.place(),
      action_id: action,
      block_id: block,
      value: typed,
    };
    const outcome = await acting.deliver({ kind: "interactive", body });
    const options = outcome.ok ? accepted(acting, outcome.ack) : null;
    if (!options) return failed(trouble);
    acting.suggested.set(suggestionKey(person, at, block, action), options);
    return { ok: true, options };
  };

/** docs.slack.dev, external select: options or option_groups, 100 at most. Null: they cannot be shown. */
const accepted = (acting: Acting, ack: Json): Json[] | null => {
  const grouped = ack["option_groups"] !== undefined;
  const given = grouped ? ack["option_groups"] : ack["options"];
  const wrong = complaints(given, list(grouped ? optionGroup : menuOption, 0, 100), "/options");
  if (wrong.length === 0) return optionsOf(isJson(ack) ? ack : {});
  const { code } = new Refused("invalid_options");
  acting.traffic.add("app", "acknowledgement of block_suggestion", { ack, wrong }, code);
  return null;
};
