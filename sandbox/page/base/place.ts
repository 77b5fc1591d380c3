import type { ChannelId, PersonId } from "../../slack/model.ts";

/** What a tab shows: person, channel, thread and panel. Each place has an address, so that two tabs can be two people. */
export type Place = {
  readonly person: PersonId;
  /** A channel's id, or "home" for the app's Home tab. */
  readonly where: ChannelId;
  readonly thread: string | null;
  /** The panel beside the conversation. */
  readonly panel: Panel | null;
};

export type Panel = (typeof PANELS)[number];

export const PANELS = ["traffic", "service", "scenes", "phone"] as const;

/** Whether the panel exists only in the full sandbox, which has the service and the scenes. */
export const needsWorld = (panel: Panel): boolean => panel === "service" || panel === "scenes";

const ID = "[A-Za-z0-9_-]{1,64}";
const PATH = new RegExp(`^/as/(${ID})/(${ID})(?:/(\\d+\\.\\d+))?/?$`);
const PERMALINK = new RegExp(`^/archives/(${ID})/p(\\d+)(\\d{6})$`);

/** Whether the wire is drawn above the panel. The phone has none, because it belongs to one person. */
export const showsWire = (panel: Panel | null): boolean => panel !== null && panel !== "phone";

export function parsePlace(url: URL): Place | undefined {
  const found = PATH.exec(url.pathname);
  if (found === null) return undefined;
  const [, person, where, thread] = found;
  if (person === undefined || where === undefined) return undefined;
  return { person, where, thread: thread ?? null, panel: panelOf(url) };
}

/** `?traffic` is the old address of the Traffic panel. */
function panelOf(url: URL): Panel | null {
  if (url.searchParams.has("traffic")) return "traffic";
  return PANELS.find((one) => one === url.searchParams.get("panel")) ?? null;
}

export function hrefOf(place: Place, message?: string): string {
  const path = `/as/${place.person}/${place.where}${place.thread === null ? "" : `/${place.thread}`}`;
  return `${path}${place.panel ? `?panel=${place.panel}` : ""}${message === undefined ? "" : `#${anchorOf(message, place)}`}`;
}

/** Returns the anchor of a message. It names the pane, because a thread's first message is on the page twice. */
export function anchorOf(ts: string, place: { thread: string | null }): string {
  return `${place.thread === null ? "m" : "t"}-${ts}`;
}

/** Two people in the same channel, left and right. */
export type SideBySide = { readonly people: readonly [PersonId, PersonId]; readonly where: ChannelId };

const SIDE = new RegExp(`^/side/(${ID})/(${ID})/(${ID})/?$`);

export function parseSideBySide({ pathname }: URL): SideBySide | undefined {
  const [, left, right, where] = SIDE.exec(pathname) ?? [];
  if (left === undefined || right === undefined || where === undefined) return undefined;
  return { people: [left, right], where };
}

export function sideBySideHref({ people, where }: SideBySide): string {
  return `/side/${people.join("/")}/${where}`;
}

export type Permalink = { readonly channel: ChannelId; readonly ts: string; readonly thread: string | null };

/** Parses a link to a message in the format of `chat.getPermalink`. The host can be any. */
export function parsePermalink(url: URL): Permalink | undefined {
  const [, channel, seconds, micros] = PERMALINK.exec(url.pathname) ?? [];
  if (channel === undefined) return undefined;
  const ts = `${seconds}.${micros}`;
  const thread = url.searchParams.get("thread_ts");
  return { channel, ts, thread: thread !== null && /^\d+\.\d+$/.test(thread) ? thread : null };
}
