// The wire: Slack, the app and the service as three stations, and each envelope as a dot that moves from one to another. With a screen
// reader, on a narrow screen or with reduced motion, numbers replace the dots.
import { attr, html, type Html } from "../base/html.ts";
import type { PageParts } from "../base/parts.ts";
import type { Item, Lists, Slot } from "../base/regions.ts";
import type { Envelope, Seen } from "../base/envelopes.ts";

export function wireLists(parts: PageParts, seen: Seen): Lists {
  return {
    "wire-stations": [{ key: "stations", inner: stations(parts) }],
    "wire-dots": seen.newest.map(dot),
    "wire-words": [{ key: "words", inner: words(seen) }],
  };
}

export function wireStrip(slot: Slot): Html {
  return html`<div data-wire>
    <div data-track aria-hidden="true">${slot("wire-stations")} ${slot("wire-dots")}</div>
    ${slot("wire-words")}
  </div>`;
}

function stations({ workspace, connected, panelState }: PageParts): Html {
  const name = workspace.people.get(workspace.app.person)?.name ?? "The app";
  const runs = (panelState?.bot() ?? "running") === "running";
  return html`<b data-station="slack">Slack</b>
    <i data-joins="${runs && connected() ? "yes" : "no"}"></i>
    <b data-station="app" ${attr("data-away", !runs)}>${name}</b>
    <i data-joins="${runs ? "yes" : "no"}"></i>
    <b data-station="service">Service</b>`;
}

/** Dots that arrive together start one after another. The markup of a dot never changes, so the browser moves it only once. */
function dot({ number, way, lost }: Envelope): Item {
  const inner = html`<i
    data-envelope="${way}"
    data-late="${number % 5}"
    ${attr("data-lost-envelope", lost)}
  ></i>`;
  return { key: `e${number}`, inner };
}

function words({ counts, more, lost, lastLost, newest }: Seen): Html {
  const last = newest.at(-1);
  return html`<p data-wire-words>
    <span>Since this page opened:</span>
    <span>${plural(counts["app-slack"], "call")} to Slack</span>
    <span>${plural(counts["slack-app"], "envelope")} from Slack</span>
    <span>${plural(counts["app-service"], "call")} to the service</span>
    ${more > 0 ? html`<span>${more} more at once</span>` : null}
    ${lost > 0 ? html`<strong>${lost} lost${lastLost === null ? null : html`, last: ${lastLost.what}`}</strong>` : null}
    ${last === undefined ? null : html`<span data-newest>newest: ${last.what}</span>`}
  </p>`;
}

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
