// Serves the sandbox's page on the port of the local Slack. Anyone who opens the page can act as any person in the workspace.

import type { IncomingMessage, ServerResponse } from "node:http";
import { perform } from "./page-acts.ts";
import { loadAssets } from "./assets.ts";
import { playable } from "./base/reader.ts";
import { isPng } from "./drawing/file-card.ts";
import { drawDocument, drawMissing, exists, firstPlace } from "./document.ts";
import { refused } from "./request-check.ts";
import type { Html } from "./base/html.ts";
import { createLive } from "./live.ts";
import type { Live } from "./live.ts";
import { hrefOf, parsePermalink, parsePlace, parseSideBySide } from "./base/place.ts";
import { canShowSideBySide, drawSideBySide } from "./side-by-side.ts";
import type { PageParts } from "./base/parts.ts";
import { createViewStates } from "./base/view-state.ts";
import { jsonLines } from "./panels/traffic-line.ts";

/** Returns true if the request belongs to the page, which then answers it, now or later. */
export type PageHandler = (req: IncomingMessage, res: ServerResponse) => boolean;

const OWN = /^\/(?:$|as\/|side\/|page\/|archives\/)/;

export function createPage(parts: PageParts): PageHandler {
  const assets = loadAssets();
  const live = createLive(parts, createViewStates(parts.workspace));
  // Everyone has a conversation with the app from the start, as in Slack.
  for (const person of playable(parts)) parts.workspace.dmOf(person.id);
  return (req, res) => {
    const url = new URL(req.url ?? "/", "http://sandbox");
    if (!OWN.test(url.pathname)) return false;
    if (refused(req, res)) return true;
    const asset = assets.get(url.pathname);
    if (req.method === "POST") void act({ parts, live }, url, req, res);
    else if (asset !== undefined) res.writeHead(200, { "content-type": asset.type }).end(asset.body);
    else if (url.pathname.startsWith("/page/file/")) sendFile(parts, url, res);
    else if (url.pathname === "/page/live") live.open(res);
    else if (url.pathname === "/page/traffic.jsonl") sendTraffic(parts, res);
    else show({ parts, live }, url, res);
    return true;
  };
}

type Handlers = { readonly parts: PageParts; readonly live: Live };

async function act(
  { parts, live }: Handlers,
  url: URL,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const handlers: Record<string, (req: IncomingMessage) => Promise<object | undefined>> = {
    "/page/act": (req) => perform(parts, req),
    "/page/watch": live.watch,
  };
  const result = await handlers[url.pathname]?.(req);
  res.writeHead(result === undefined ? 400 : 200, { "content-type": "application/json" });
  res.end(
    JSON.stringify(result ?? { ok: false, error: "The page sent a request that the sandbox does not know." }),
  );
}

function show({ parts, live }: Handlers, url: URL, res: ServerResponse): void {
  const first = firstPlace(parts);
  const message = parsePermalink(url);
  if (first !== undefined && url.pathname === "/") return redirect(res, hrefOf(first));
  if (first !== undefined && message !== undefined) {
    return redirect(res, hrefOf({ ...first, where: message.channel, thread: message.thread }, message.ts));
  }
  const side = parseSideBySide(url);
  if (side !== undefined && canShowSideBySide(parts, side))
    return send(res, 200, drawSideBySide(parts, side));
  const place = parsePlace(url);
  if (place === undefined || !exists(parts, place)) return send(res, 404, drawMissing(parts));
  if (place.where === "home") void parts.openHome?.(place.person);
  return send(res, 200, drawDocument(parts, place, live.draw(place)));
}

function redirect(res: ServerResponse, location: string): void {
  res.writeHead(302, { location }).end();
}

function send(res: ServerResponse, status: number, page: Html): void {
  res.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(page.toString());
}

function sendTraffic(parts: PageParts, res: ServerResponse): void {
  res.writeHead(200, {
    "content-type": "application/jsonl; charset=utf-8",
    "content-disposition": "attachment; filename=traffic.jsonl",
  });
  res.end(jsonLines(parts.traffic.lines()));
}

function sendFile(parts: PageParts, url: URL, res: ServerResponse): void {
  const file = parts.workspace.files.get(url.pathname.slice("/page/file/".length));
  if (file === undefined) return send(res, 404, drawMissing(parts));
  // Always a download, so that a file never runs as a page of this origin.
  const name = `filename*=UTF-8''${encodeURIComponent(file.name).replaceAll("'", "%27")}`;
  res.writeHead(200, {
    "content-type": isPng(file.bytes) ? "image/png" : "application/octet-stream",
    "content-disposition": `attachment; ${name}`,
  });
  res.end(file.bytes);
}
