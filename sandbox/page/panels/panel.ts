// The panels beside the conversation.
import { html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import { hrefOf, needsWorld, showsWire } from "../base/place.ts";
import type { Panel, Place } from "../base/place.ts";
import type { PageParts } from "../base/parts.ts";
import type { Reader } from "../base/reader.ts";
import type { Lists, Slot } from "../base/regions.ts";
import { phoneItems, phonePanel } from "./phone-panel.ts";
import { sceneList } from "./scenes-panel.ts";
import type { ViewState } from "../base/view-state.ts";
import { trafficLists, trafficPanel } from "./traffic-panel.ts";
import { wireLists, wireStrip } from "./wire-strip.ts";

const ABOUT: Readonly<Record<Panel, { readonly name: string; readonly note: string }>> = {
  traffic: { name: "Traffic", note: "everything on the wire" },
  service: { name: "Service", note: "state, faults and runs" },
  scenes: { name: "Scenes", note: "one click plays a story" },
  phone: { name: "Phone", note: "direct messages and mentions" },
};

export function panelLists(parts: PageParts, reader: Reader, viewState: ViewState): Lists {
  const own = contentLists(parts, reader, viewState);
  if (!showsWire(reader.place.panel)) return own;
  return { ...wireLists(parts, viewState.envelopes(parts.traffic.lines())), ...own };
}

function contentLists(parts: PageParts, reader: Reader, viewState: ViewState): Lists {
  const { panelState } = parts;
  const { panel } = reader.place;
  if (panel === "traffic") return trafficLists(parts, reader.times);
  if (panel === "phone") return { phone: phoneItems(parts, reader, viewState.notifications) };
  if (panelState === null || panel === null) return {};
  if (panel === "scenes") return { scenes: sceneList(panelState.scenes(), reader.times) };
  return panelState.servicePanel.lists(reader.times, viewState.memory);
}

export function panelPane(parts: PageParts, place: Place, slot: Slot): Html | null {
  const { panel } = place;
  if (panel === null) return null;
  const { name, note } = ABOUT[panel];
  return html`<section data-pane data-panel-pane="${panel}" aria-label="${name}">
    <header data-bar>
      <h2>${name}</h2>
      <span data-note>${note}</span>
      <a href="${hrefOf({ ...place, panel: null })}" data-close aria-label="Hide ${name.toLowerCase()}">✕</a>
    </header>
    ${showsWire(panel) ? wireStrip(slot) : null}
    ${needsWorld(panel) && parts.panelState === null ? html`<p data-empty>This panel needs the full sandbox.</p>` : contents(parts, place, slot)}
  </section>`;
}

function contents(parts: PageParts, { panel, person }: Place, slot: Slot): Html {
  if (panel === "phone") return phonePanel(parts, person, slot);
  if (panel === "traffic") return trafficPanel(slot);
  if (panel === "service" && parts.panelState !== null) return parts.panelState.servicePanel.pane(slot);
  return html`<div data-scroll tabindex="0" role="region" aria-label="All scenes">${slot("scenes")}</div>`;
}
