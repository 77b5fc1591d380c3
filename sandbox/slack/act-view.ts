// A person submits or closes a modal. The app's acknowledgement says what happens to it.

import { type Acting, actor, done, interaction, failed } from "./acting.ts";
import { clientErrors } from "./client-errors.ts";
import { Refused } from "./errors.ts";
import { viewJson } from "./slack-json.ts";
import type { ActResult, Acts, OpenView } from "./model.ts";
import { isJson, type Json } from "./json-object.ts";
import { pushModal, replaceModal } from "./views.ts";

const connectionTrouble = "We had some trouble connecting. Try again?";

const gone = "This form is no longer open.";

function openFor({ workspace }: Acting, person: string, id: string): OpenView | null {
  const open = workspace.viewById(id);
  return open?.person === person ? open : null;
}

export const createSubmit =
  (acting: Acting): Acts["submit"] =>
  async (personId, viewId, values) => {
    const person = actor(acting, personId);
    if (typeof person === "string") return failed(person);
    const { workspace } = acting;
    const open = openFor(acting, personId, viewId);
    if (!open || workspace.viewsOf(personId).at(-1) !== open || !open.view["submit"]) return failed(gone);
    const errors = clientErrors(open.view.blocks, values);
    workspace.changeView(open, { values, errors, trouble: null });
    const [first] = Object.values(errors);
    if (first !== undefined) return failed(first);
    const body = {
      type: "view_submission",
      ...interaction(acting, person),
      trigger_id: acting.triggers.issue(personId, viewId),
      view: viewJson(open, workspace),
      response_urls: [],
    };
    const outcome = await acting.deliver({ kind: "interactive", body });
    if (!workspace.views.includes(open)) return done;
    return outcome.ok ? follow(acting, open, outcome.ack) : inTrouble(acting, open);
  };

function inTrouble(acting: Acting, open: OpenView): ActResult {
  acting.workspace.changeView(open, { trouble: connectionTrouble });
  return failed(connectionTrouble);
}

/** docs.slack.dev, view_submission: an empty acknowledgement closes this view. Slack defines four actions. */
function follow(acting: Acting, open: OpenView, ack: Json): ActResult {
  try {
    obey(acting, open, ack);
    return done;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    acting.traffic.add("app", "acknowledgement of view_submission", { ack, ...error.more }, error.code);
    return inTrouble(acting, open);
  }
}

function obey(acting: Acting, open: OpenView, ack: Json): void {
  const { workspace } = acting;
  const view = isJson(ack["view"]) ? ack["view"] : {};
  switch (ack["response_action"]) {
    case undefined:
      return workspace.closeViews(open.person, [open]);
    case "clear":
      return workspace.closeViews(open.person, workspace.viewsOf(open.person));
    case "errors":
      return workspace.changeView(open, { errors: errorsFor(open, ack["errors"]) });
    case "update":
      return void replaceModal(acting, open, view);
    case "push":
      return void pushModal(acting, open.person, view);
    default:
      throw new Refused("invalid_response_action");
  }
}

function errorsFor(open: OpenView, errors: unknown): Record<string, string> {
  const inputs = new Set(open.view.blocks.filter(({ type }) => type === "input").map((one) => one.block_id));
  const entries = isJson(errors) ? Object.entries(errors) : [];
  if (entries.length === 0 || !entries.every(([id, text]) => inputs.has(id) && typeof text === "string"))
    throw new Refused("invalid_errors");
  return Object.fromEntries(entries.map(([id, text]) => [id, String(text)]));
}

export const createClose =
  (acting: Acting): Acts["close"] =>
  async (personId, viewId) => {
    const person = actor(acting, personId);
    if (typeof person === "string") return failed(person);
    const { workspace } = acting;
    const open = openFor(acting, personId, viewId);
    if (!open) return failed(gone);
    const cleared = open.view["clear_on_close"] === true;
    const closing = cleared ? workspace.viewsOf(personId) : [open];
    const bodies = closing
      .filter(({ view }) => view["notify_on_close"] === true)
      .map((view) => ({
        type: "view_closed",
        ...interaction(acting, person),
        view: viewJson(view, workspace),
        is_cleared: cleared,
      }));
    workspace.closeViews(personId, closing);
    await Promise.all(bodies.map((body) => acting.deliver({ kind: "interactive", body })));
    return done;
  };
