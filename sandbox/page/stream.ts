// Live updates over one connection for all tabs of a browser, because a browser opens only six connections to one host.
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Place } from "./base/place.ts";
import type { Patch } from "./base/regions.ts";

/** Changes come in bursts. One drawing per interval is fast enough for people and cheap with 500 messages (ms). */
const GATHER_MS = 30;

/** The pause after a drawing, as a multiple of its duration. It leaves time for Slack's requests, which need answers within 3 s. */
const REST_PER_LOOK = 2;

export type Streams = {
  /** Starts Server-Sent Events for one browser. The first event names the stream; tabs join it by that name. */
  readonly open: (res: ServerResponse) => void;
  /** Adds or updates a tab. A sleeping tab is not drawn, and catches up when it wakes. Returns false if the stream does not exist. */
  readonly watch: (stream: string, tab: string, watched: Watched) => boolean;
  readonly leave: (stream: string, tab: string) => void;
};

/** `drawn` is the name of the document that the tab shows. */
export type Watched = { readonly place: Place; readonly awake: boolean; readonly drawn: string };

export type StreamOptions = {
  /** Draws for one tab. Each call returns the changes since the previous call; the first call, since the document was drawn. */
  readonly looker: (place: Place, drawn: string) => () => Patch[];
  /** `concerns` returns whether a tab in this place would show the change. */
  readonly onChange: (listener: (concerns: (place: Place) => boolean) => void) => () => void;
};

type Tab = { readonly place: Place; readonly news: () => Patch[]; awake: boolean; due: boolean };

type Stream = {
  readonly res: ServerResponse;
  readonly tabs: Map<string, Tab>;
  timer: NodeJS.Timeout | undefined;
  looking: boolean;
  /** How long the last drawing took (ms). */
  tookMs: number;
};

export function createStreams({ looker, onChange }: StreamOptions): Streams {
  const streams = new Map<string, Stream>();
  return {
    open(res) {
      const name = randomUUID();
      const stream: Stream = { res, tabs: new Map(), timer: undefined, looking: false, tookMs: 0 };
      streams.set(name, stream);
      res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      res.write(`retry: 500\n\nevent: name\ndata: ${name}\n\n`);
      res.on("drain", () => soon(stream));
      const stop = onChange((concerns) => {
        for (const tab of stream.tabs.values()) tab.due ||= concerns(tab.place);
        soon(stream);
      });
      res.on("close", () => {
        stop();
        clearTimeout(stream.timer);
        streams.delete(name);
      });
    },
    watch(name, id, { place, awake, drawn }) {
      const stream = streams.get(name);
      if (stream === undefined) return false;
      const tab = stream.tabs.get(id) ?? { place, news: looker(place, drawn), awake, due: true };
      tab.awake = awake;
      stream.tabs.set(id, tab);
      soon(stream);
      return true;
    },
    leave: (name, id) => void streams.get(name)?.tabs.delete(id),
  };
}

function soon(stream: Stream): void {
  if (stream.looking) return;
  const wait = Math.max(GATHER_MS, stream.tookMs * REST_PER_LOOK);
  stream.timer ??= setTimeout(() => void send(stream), wait);
}

/** Draws nothing while the browser has not read what was sent before. Other work gets its turn between two tabs. */
async function send(stream: Stream): Promise<void> {
  const { res, tabs } = stream;
  stream.timer = undefined;
  stream.looking = true;
  const begun = performance.now();
  for (const [id, tab] of tabs) {
    if (!tab.awake || !tab.due || res.writableNeedDrain || res.destroyed) continue;
    tab.due = false;
    const patches = tab.news();
    if (patches.length > 0) res.write(`data: ${JSON.stringify({ tab: id, patches })}\n\n`);
    await nextTurn();
  }
  stream.looking = false;
  stream.tookMs = performance.now() - begun;
  const left = [...tabs.values()].some(({ awake, due }) => awake && due);
  if (left && !res.writableNeedDrain && !res.destroyed) soon(stream);
}
