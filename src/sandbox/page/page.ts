// The sandbox's page: one person, acting as any of the workspace's people. Mounted on the port of the Slack emulator.
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { perform } from "./acting.ts";
import { playable } from "./chrome.ts";
import { drawDocument, drawMissing, exists, firstPlace, lists, SCRIPT, STYLES } from "./document.ts";
import { refused } from "./guard.ts";
import type { Html } from "./html.ts";
import { hrefOf, parsePermalink, parsePlace } from "./place.ts";
import type { PageParts } from "./parts.ts";
import { stream } from "./stream.ts";
import { createUnread } from "./unread.ts";
import type { Unread } from "./unread.ts";

/** Says whether the request was the page's; it has answered, or will, when it was. */
export type PageHandler = (req: IncomingMessage, res: ServerResponse) => boolean;

const OWN = /^\/(?:$|as\/|page\/|archives\/)/;

export function createPage(parts: PageParts): PageHandler {
  const assets = loadAssets();
  const unread = createUnread(parts.workspace);
  // Everybody has a conversation with the app from the start, as in Slack.
  for (const person of playable(parts)) parts.workspace.dmOf(person.id);
  return (req, res) => {
    const url = new URL(req.url ?? "/", "http://sandbox");
    if (!OWN.test(url.pathname)) return false;
    if (refused(req, res)) return true;
    const asset = assets.get(url.pathname);
    if (req.method === "POST") void act(parts, req, res, url);
    else if (asset !== undefined) res.writeHead(200, { "content-type": asset.type }).end(asset.body);
    else if (url.pathname.startsWith("/page/file/")) sendFile(parts, url, res);
    else if (url.pathname === "/page/live") live(parts, unread, url, res);
    else show(parts, unread, url, res);
    return true;
  };
}

async function act(parts: PageParts, req: IncomingMessage, res: ServerResponse, url: URL): Promise<void> {
  const result = url.pathname === "/page/act" ? await perform(parts, req) : undefined;
  res.writeHead(result === undefined ? 400 : 200, { "content-type": "application/json" });
  res.end(JSON.stringify(result ?? { ok: false, told: "The page asked for something it cannot." }));
}

function show(parts: PageParts, unread: Unread, url: URL, res: ServerResponse): void {
  const first = firstPlace(parts);
  const message = parsePermalink(url);
  if (first !== undefined && url.pathname === "/") return redirect(res, hrefOf(first));
  if (first !== undefined && message !== undefined) {
    return redirect(res, hrefOf({ ...first, where: message.channel, thread: message.thread }, message.ts));
  }
  const place = parsePlace(url);
  if (place === undefined || !exists(parts, place)) return send(res, 404, drawMissing(parts));
  if (place.where === "home") void parts.openHome?.(place.person);
  return send(res, 200, drawDocument(parts, place, unread));
}

function redirect(res: ServerResponse, location: string): void {
  res.writeHead(302, { location }).end();
}

function send(res: ServerResponse, status: number, page: Html): void {
  res.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(page.toString());
}

function live(parts: PageParts, unread: Unread, url: URL, res: ServerResponse): void {
  const at = url.searchParams.get("at") ?? "";
  const place = at.startsWith("/as/") ? parsePlace(new URL(at, url)) : undefined;
  if (place === undefined || !exists(parts, place)) return send(res, 404, drawMissing(parts));
  const onChange = (listener: () => void): (() => void) => {
    const stops = [parts.workspace.onChange(listener), parts.traffic.onLine(listener)];
    return () => stops.forEach((stop) => stop());
  };
  return stream(res, () => lists(parts, place, unread), onChange);
}

function sendFile(parts: PageParts, url: URL, res: ServerResponse): void {
  const file = parts.workspace.files.get(url.pathname.slice("/page/file/".length));
  if (file === undefined) return send(res, 404, drawMissing(parts));
  // Always a download and never a page of this origin, whatever the app put into it.
  const name = `filename*=UTF-8''${encodeURIComponent(file.name).replaceAll("'", "%27")}`;
  res.writeHead(200, {
    "content-type": "application/octet-stream",
    "content-disposition": `attachment; ${name}`,
  });
  res.end(file.bytes);
}

type Asset = { readonly type: string; readonly body: Buffer };

function loadAssets(): ReadonlyMap<string, Asset> {
  const types: Record<string, string> = { css: "text/css", js: "text/javascript", svg: "image/svg+xml" };
  const names = [
    ...STYLES.map((name) => `${name}.css`),
    ...[SCRIPT, "live", "composer", "completion", "dialogs", "acts", "traffic"].map((name) => `${name}.js`),
    "icon.svg",
  ];
  const load = (name: string): [string, Asset] => {
    const body = readFileSync(new URL(`browser/${name}`, import.meta.url));
    return [`/page/assets/${name}`, { type: `${types[name.split(".").at(-1) ?? ""]}; charset=utf-8`, body }];
  };
  return new Map(names.map(load));
}
