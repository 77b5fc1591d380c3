import type { Traffic } from "../slack/model.ts";
import { attr, html } from "./html.ts";
import type { Html } from "./html.ts";
import { hrefOf } from "./place.ts";
import type { Place } from "./place.ts";
import type { PageParts } from "./parts.ts";
import type { Item, Slot } from "./regions.ts";
import type { Times } from "./times.ts";

/** More would make every tab heavy; the newest are the ones looked for. */
const LINES = 300;
const DETAIL_CHARACTERS = 20_000;

const drawn = new WeakMap<Traffic, Item>();
let count = 0;

/** Newest first. Lines never change, so each is drawn once for all tabs. */
export function trafficLines({ traffic }: PageParts, times: Times): Item[] {
  return traffic
    .lines()
    .slice(-LINES)
    .toReversed()
    .map((line) => {
      const known = drawn.get(line) ?? { key: `t${(count += 1)}`, inner: drawLine(line, times) };
      drawn.set(line, known);
      return known;
    });
}

function drawLine(line: Traffic, times: Times): Html {
  return html`<details data-line data-from="${line.from}" ${attr("data-refused", line.refused !== null)}>
    <summary>
      <time datetime="${new Date(line.at).toISOString()}">${times.fine(line.at)}</time>
      <b>${line.from}</b> <code>${line.what}</code>
      ${line.refused === null ? null : html`<span data-why>${line.refused}</span>`}
    </summary>
    <div>
      <button type="button" data-look="plain" data-copy>Copy</button>
      <pre tabindex="0">${detailOf(line.detail)}</pre>
    </div>
  </details>`;
}

function detailOf(detail: unknown): string {
  const text = typeof detail === "string" ? detail : (JSON.stringify(detail, null, 2) ?? "");
  const rest = text.length - DETAIL_CHARACTERS;
  return rest > 0 ? `${text.slice(0, DETAIL_CHARACTERS)}\n… ${rest} more characters` : text;
}

export function trafficPanel(place: Place, slot: Slot): Html {
  return html`<header data-bar>
      <h2>Traffic</h2>
      <span data-note>what the app, Slack and the service say to each other</span>
      <a href="${hrefOf({ ...place, traffic: false })}" data-close aria-label="Hide traffic">✕</a>
    </header>
    <p data-filter><input type="search" placeholder="Filter" aria-label="Filter the traffic" /></p>
    <div data-scroll tabindex="0" role="region" aria-label="Traffic, newest first">${slot("traffic")}</div>`;
}
