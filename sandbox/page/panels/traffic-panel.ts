// The Traffic panel: the newest lines in order. Successful polls are grouped, so that they do not hide the rest.
import type { Traffic } from "../../slack/model.ts";
import { html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import type { PageParts } from "../base/parts.ts";
import type { Item, Lists, Slot } from "../base/regions.ts";
import type { Times } from "../base/times.ts";
import { drawLine } from "./traffic-line.ts";

/** How many lines a tab shows; more would slow it down. All kept lines can be downloaded. */
const LINES = 300;
const QUIET_LINES = 500;

/** The most polls in a group. A growing group is sent again with each poll, so it must stay small. */
const GROUP = 25;

/** Lines never change, so each is drawn once for all tabs. */
const drawn = new WeakMap<Traffic, Item>();

export function trafficLists(parts: PageParts, times: Times): Lists {
  const all = parts.traffic.lines();
  const from = firstShown(all);
  const draw = (line: Traffic, i: number): Item => {
    const before = all[from + i - 1];
    const item = drawn.get(line) ?? {
      key: `t${line.number}`,
      inner: drawLine(line, { workspace: parts.workspace, times, before }),
    };
    drawn.set(line, item);
    return item;
  };
  const items = all.slice(from).map(draw);
  return {
    traffic: gathered(all.slice(from), items),
    "traffic-rest": [{ key: "rest", inner: rest(all.length, items.length) }],
  };
}

/** Returns the index of the first line to show. Polls are numerous and small, so they have a limit of their own. */
function firstShown(all: readonly Traffic[]): number {
  let loud = 0;
  let quiet = 0;
  return (
    all.findLastIndex((line) => {
      if (isQuiet(line)) quiet += 1;
      else loud += 1;
      return loud > LINES || quiet > QUIET_LINES;
    }) + 1
  );
}

function rest(kept: number, shown: number): Html {
  const older = kept - shown;
  return html`<p data-note>
    ${older > 0 ? `${older === 1 ? "1 older line is" : `${older} older lines are`} not shown here. ` : null}<a
      href="/page/traffic.jsonl"
      download
      >All ${kept} kept lines as a file</a
    >
  </p>`;
}

/** Whether the line is a successful poll of a run. The app's next actions show its result. */
function isQuiet({ from, what, refused }: Traffic): boolean {
  return from === "service" && refused === null && /\bGET \S*\/runs\/\S+ → 200\b/.test(what);
}

/** Combines successive polls into one item that can be opened. */
function gathered(lines: readonly Traffic[], items: readonly Item[]): Item[] {
  const result: Item[] = [];
  let quiet: Item[] = [];
  const flush = (): void => {
    result.push(...group(quiet));
    quiet = [];
  };
  lines.forEach((line, i) => {
    const item = items[i];
    if (item === undefined) return;
    if (!isQuiet(line) || quiet.length === GROUP) flush();
    (isQuiet(line) ? quiet : result).push(item);
  });
  flush();
  return result;
}

const groups = new WeakMap<Item, { readonly count: number; readonly item: Item }>();

/** Only the newest group grows. Its key comes from its first poll, so the key stays. */
function group(items: readonly Item[]): Item[] {
  const [first] = items;
  if (first === undefined || items.length === 1) return [...items];
  const drawnGroup = groups.get(first);
  if (drawnGroup?.count === items.length) return [drawnGroup.item];
  const inner = html`<details data-quiet>
    <summary>${items.length} successful polls of runs</summary>
    <ol>
      ${items.map((one) => html`<li>${one.inner}</li>`)}
    </ol>
  </details>`;
  const item = { key: `q${first.key}`, inner };
  groups.set(first, { count: items.length, item });
  return [item];
}

const SIDES = ["app", "Slack", "service", "gateway", "person"];

export function trafficPanel(slot: Slot): Html {
  return html`<form data-filter role="search" aria-label="Filter the traffic">
      <input type="search" placeholder="Filter by words" aria-label="Words that a line must contain" />
      <select aria-label="Sender or receiver">
        <option value="">everyone</option>
        ${SIDES.map((one) => html`<option value="${one}">${one}</option>`)}
      </select>
      <label><input type="checkbox" /> refused only</label>
      <span data-tools>
        <button type="button" data-look="plain" data-pause aria-pressed="false">Pause</button>
        <button type="button" data-look="plain" data-copy-all>Copy all shown</button>
        <button type="button" data-look="plain" data-clear>Clear</button>
        <button type="button" data-look="plain" data-unclear hidden>Show cleared</button>
      </span>
      <output data-count></output>
    </form>
    <div data-scroll tabindex="0" role="region" aria-label="Traffic, oldest first">
      ${slot("traffic-rest")} ${slot("traffic")}
    </div>
    <button type="button" data-new hidden>Newer lines ↓</button>`;
}
