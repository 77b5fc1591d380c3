// The live parts of the page: named lists of keyed pieces. Each piece has a mark, a digest of its markup, so that server and browser can
// tell whether it has changed without comparing the markup.
import { hash } from "node:crypto";
import { Html, html } from "./html.ts";

export type Item = { readonly key: string; readonly inner: Html };
export type Lists = Readonly<Record<string, readonly Item[]>>;

/** Draws the container of a list with its current items. */
export type Slot = (name: string) => Html;

const ORDERED = new Set(["messages", "replies", "traffic", "runs"]);

type Piece = { readonly key: string; readonly mark: string; readonly html: string };

/** The changes of one list. `keys` is its new order, if the order changed. */
export type Patch = {
  readonly list: string;
  readonly keys?: readonly string[];
  readonly items: readonly Piece[];
};

export function slots(lists: Lists): Slot {
  return (name) => {
    const inner = new Html((lists[name] ?? []).map((item) => piece(name, item).html).join(""));
    if (!ORDERED.has(name)) return html`<div data-list="${name}">${inner}</div>`;
    return html`<ol data-list="${name}">
      ${inner}
    </ol>`;
  };
}

/** A memory returns the same item until its drawing changes, so each mark is computed once. */
const pieces = new WeakMap<Item, Piece>();

function piece(list: string, item: Item): Piece {
  const found = pieces.get(item) ?? newPiece(list, item);
  pieces.set(item, found);
  return found;
}

function newPiece(list: string, item: Item): Piece {
  const inner = item.inner.toString();
  const mark = hash("sha1", inner, "base64url").slice(0, 12);
  const tag = ORDERED.has(list) ? "li" : "div";
  const body = html`data-key="${item.key}" data-mark="${mark}"`;
  return { key: item.key, mark, html: `<${tag} ${body.toString()}>${inner}</${tag}>` };
}

/** Returns a function that remembers what one tab has, and returns only the differences. Its first call returns everything. */
export function createDiffer(): (lists: Lists) => Patch[] {
  let sent = new Map<string, Map<string, string>>();
  return (lists) => {
    const now = new Map<string, Map<string, string>>();
    const patches = Object.entries(lists).flatMap(([list, items]) => {
      const before = sent.get(list);
      const pieces = items.map((item) => piece(list, item));
      const marks = new Map(pieces.map((one) => [one.key, one.mark]));
      now.set(list, marks);
      const changed = pieces.filter((one) => before?.get(one.key) !== one.mark);
      const keys = [...marks.keys()];
      const moved = before === undefined || keys.join(" ") !== [...before.keys()].join(" ");
      return changed.length > 0 || moved ? [{ list, items: changed, ...(moved ? { keys } : {}) }] : [];
    });
    sent = now;
    return patches;
  };
}
