// Live updates: which tabs there are, and what each one gets.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { PageParts } from "./base/parts.ts";
import { parsePlace, type Place, showsWire } from "./base/place.ts";
import { createDiffer, type Lists } from "./base/regions.ts";
import { type Drawn, exists, lists } from "./document.ts";
import { createStreams, type StreamOptions } from "./stream.ts";
import type { ViewState } from "./base/view-state.ts";
import { bodyOf } from "./request-check.ts";

/** `at` is the tab's address; null when the tab is gone. */
const watch = z.object({
  stream: z.string().max(64),
  tab: z.string().max(64),
  at: z.string().max(500).nullable(),
  awake: z.boolean(),
  drawn: z.string().max(64),
});

/** `gone`: there is no such person or place any more. `lost`: there is no such stream any more. */
type Watching = { readonly ok: true } | { readonly ok: false; readonly because: "gone" | "lost" };

export type Live = {
  /** Draws a document and names it. The tab that shows it then gets only the differences. */
  readonly draw: (place: Place) => Drawn;
  readonly open: (res: ServerResponse) => void;
  /** Undefined if the body is not the page's. */
  readonly watch: (req: IncomingMessage) => Promise<Watching | undefined>;
};

export function createLive(parts: PageParts, newViewState: () => ViewState): Live {
  const documents = createDocuments();
  const look = (place: Place): Look => {
    const viewState = newViewState();
    return { lists: () => lists(parts, place, viewState), differ: createDiffer() };
  };
  const streams = createStreams({
    looker: (place, drawn) => {
      const { lists, differ } = documents.take(drawn) ?? look(place);
      return () => differ(lists());
    },
    onChange: (listener) => onChange(parts, listener),
  });
  return {
    draw(place) {
      const fresh = look(place);
      const now = fresh.lists();
      fresh.differ(now);
      return { drawn: documents.keep(fresh), now };
    },
    open: streams.open,
    async watch(req) {
      const parsed = watch.safeParse(await bodyOf(req));
      if (!parsed.success) return undefined;
      const { stream, tab, at, awake, drawn } = parsed.data;
      if (at === null) {
        streams.leave(stream, tab);
        return { ok: true };
      }
      const place = placeAt(parts, at);
      if (place === undefined) return { ok: false, because: "gone" };
      return streams.watch(stream, tab, { place, awake, drawn })
        ? { ok: true }
        : { ok: false, because: "lost" };
    },
  };
}

type Look = { readonly lists: () => Lists; readonly differ: ReturnType<typeof createDiffer> };

/** How long a drawn document waits for its tab (ms). */
const FORGOTTEN_MS = 30_000;

/** Keeps what was drawn until its tab connects. A tab that connects later, or again, gets everything. */
function createDocuments() {
  const kept = new Map<string, Look>();
  return {
    keep(look: Look): string {
      const name = randomUUID();
      kept.set(name, look);
      setTimeout(() => kept.delete(name), FORGOTTEN_MS).unref();
      return name;
    },
    take(name: string): Look | undefined {
      const look = kept.get(name);
      kept.delete(name);
      return look;
    },
  };
}

function placeAt(parts: PageParts, at: string): Place | undefined {
  const place = at.startsWith("/as/") ? parsePlace(new URL(at, "http://sandbox")) : undefined;
  return place !== undefined && exists(parts, place) ? place : undefined;
}

const everyone = (): boolean => true;
const showsPanelState = ({ panel }: Place): boolean => panel === "service" || panel === "scenes";

function onChange(parts: PageParts, listener: Parameters<StreamOptions["onChange"]>[0]): () => void {
  let connected = parts.connected();
  const { panelState } = parts;
  // Every tab shows the captions of a scene and the state of the app. Only the panels show the rest, which changes often.
  const states = (): string => panelState?.replicas().join() ?? "";
  let [scene, bot] = [panelState?.scenes().playing, states()];
  const stops = [
    parts.workspace.onChange(() => listener(everyone)),
    panelState?.onChange(() => {
      const before = [scene, bot];
      [scene, bot] = [panelState.scenes().playing, states()];
      listener(before[0] === scene && before[1] === bot ? showsPanelState : everyone);
    }),
    parts.traffic.onLine(() => {
      // Every tab shows whether the app is connected. A line of traffic shows it first.
      const was = connected;
      connected = parts.connected();
      listener(was === connected ? ({ panel }) => showsWire(panel) : everyone);
    }),
  ];
  return () => stops.forEach((stop) => stop?.());
}
