import type { ChannelId, PersonId } from "../../slack/model.ts";

/** A state of the page: person, channel, thread, panel. Each has an address, so that two tabs can be two people. */
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

/** The service and the scenes are there only in a whole sandbox. */
export const needsWorld = (panel: Panel): boolean => panel === "service" || panel === "scenes";

const ID = "[A-Za-z0-9_-]{1,64}";
const PATH = new RegExp(`^/as/(${ID})/(${ID})(?:/(\\d+\\.\\d+))?/?$`);
const PERMALINK = new RegExp(`^/archives/(${ID})/p(\\d+)(\\d{6})$`);

/** The phone is a person's. Above the other panels stands the wire. */
export const showsWire = (panel: Panel | null): boolean => panel !== null && panel !== "phone";

export function parsePlace(url: URL): Place | undefined {
  const found = PATH.exec(url.pathname);
  if (found === null) return undefined;
  const [, person, where, thread] = found;
  if (person === undefined || where === undefined) return undefined;
  return { person, where, thread: thread ?? null, panel: panelOf(url) };
}

/** `?traffic` is the older address of that panel. */
function panelOf(url: URL): Panel | null {
  if (url.searchParams.has("traffic")) return "traffic";
  return PANELS.find((one) => one === url.searchParams.get("panel")) ?? null;
}

export function hrefOf(place: Place, message?: string): string {
  const path = `/as/${place.person}/${place.where}${place.thread === null ? "" : `/${place.thread}`}`;
  return `${path}${place.panel ? `?panel=${place.panel}` : ""}${message === undefined ? "" : `#${anchorOf(message, place)}`}`;
}

/** A thread's first message is on the page twice, so an anchor names the pane too. */
export function anchorOf(ts: string, place: { thread: string | null }): string {
  return `${place.thread === null ? "m" : "t"}-${ts}`;
}

/** Two people in one place, left and right. */
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

/** A link to a message in the format of `chat.getPermalink`, with any host. */
export function parsePermalink(url: URL): Permalink | undefined {
  const [, channel, seconds, micros] = PERMALINK.exec(url.pathname) ?? [];
  if (channel === undefined) return undefined;
  const ts = `${seconds}.${micros}`;
  const thread = url.searchParams.get("thread_ts");
  return { channel, ts, thread: thread !== null && /^\d+\.\d+$/.test(thread) ? thread : null };
}
