// Live updates: which tabs are open, and what each tab receives.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import type { PageParts } from "./base/parts.ts";
import { parsePlace, type Place, showsWire } from "./base/place.ts";
import { createDiffer, type Lists } from "./base/regions.ts";
import { type Drawn, exists, lists } from "./document.ts";
import { createStreams, type StreamOptions } from "./stream.ts";
import { MINUTE_MS } from "./base/times.ts";
import type { ViewState } from "./base/view-state.ts";
import { bodyOf } from "./request-check.ts";

/** `at` is the tab's address, or null when the tab has closed. */
const watch = z.object({
  stream: z.string().max(64),
  tab: z.string().max(64),
  at: z.string().max(500).nullable(),
  awake: z.boolean(),
  drawn: z.string().max(64),
});

/** "gone": the person or place no longer exists. "lost": the stream no longer exists. */
type Watching = { readonly ok: true } | { readonly ok: false; readonly because: "gone" | "lost" };

export type Live = {
  /** Draws a document and gives it a name. The tab that shows it then receives only the differences. */
  readonly draw: (place: Place) => Drawn;
  readonly open: (res: ServerResponse) => void;
  /** Resolves to undefined if the request body is invalid. */
  readonly watch: (req: IncomingMessage) => Promise<Watching | undefined>;
};

export function createLive(parts: PageParts, newViewState: () => ViewState): Live {
  const documents = createDocuments();
  const newDrawing = (place: Place): Drawing => {
    const viewState = newViewState();
    return { lists: () => lists(parts, place, viewState), differ: createDiffer() };
  };
  const streams = createStreams({
    looker: (place, drawn) => {
      const { lists, differ } = documents.take(drawn) ?? newDrawing(place);
      return () => differ(lists());
    },
    onChange: (listener) => onChange(parts, listener),
  });
  return {
    draw(place) {
      const fresh = newDrawing(place);
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

type Drawing = { readonly lists: () => Lists; readonly differ: ReturnType<typeof createDiffer> };

/** How long a drawn document is kept for its tab (ms). */
const KEEP_MS = 30_000;

/** Keeps a drawn document until its tab connects. A tab that connects later or again receives everything. */
function createDocuments() {
  const kept = new Map<string, Drawing>();
  return {
    keep(drawing: Drawing): string {
      const name = randomUUID();
      kept.set(name, drawing);
      setTimeout(() => kept.delete(name), KEEP_MS).unref();
      return name;
    },
    take(name: string): Drawing | undefined {
      const drawing = kept.get(name);
      kept.delete(name);
      return drawing;
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
  // Every tab shows scene captions and the state of the app. Only the panels show the rest, which changes often.
  const states = (): string => panelState?.replicas().join() ?? "";
  let scene = panelState?.scenes().playing;
  let bot = states();
  const stops = [
    parts.workspace.onChange(() => listener(everyone)),
    panelState?.onChange(() => {
      const newScene = panelState.scenes().playing;
      const newBot = states();
      const isSame = newScene === scene && newBot === bot;
      scene = newScene;
      bot = newBot;
      listener(isSame ? showsPanelState : everyone);
    }),
    parts.traffic.onLine(() => {
      // Every tab shows whether the app is connected. Each change of the connection comes with a traffic line.
      const wasConnected = connected;
      connected = parts.connected();
      listener(wasConnected === connected ? ({ panel }) => showsWire(panel) : everyone);
    }),
    // What says how long ago something was, or how long it lasts, changes with the time.
    eachMinute(parts, () => listener(everyone)),
  ];
  return () => stops.forEach((stop) => stop?.());
}

function eachMinute({ after }: PageParts, act: () => void): () => void {
  const again = (): void => {
    cancel = after(MINUTE_MS, again);
    act();
  };
  let cancel = after(MINUTE_MS, again);
  return () => cancel();
}
