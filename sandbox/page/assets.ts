// The files that the browser loads: the page's own, and those of its font, which comes from a development package.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Asset = { readonly type: string; readonly body: Buffer };

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml; charset=utf-8",
  woff2: "font/woff2",
};

/** Lato, under the SIL Open Font License. Other scripts use the reader's own fonts. */
const FONTS = ["latin", "latin-ext"].flatMap((script) =>
  ["400-normal", "400-italic", "700-normal", "700-italic"].map((cut) => `lato-${script}-${cut}.woff2`),
);

/** The assets, keyed by address. */
export function loadAssets(): ReadonlyMap<string, Asset> {
  const folder = new URL("browser/", import.meta.url);
  const own = readdirSync(folder)
    .filter((name) => /\.(css|js|svg)$/.test(name))
    .map((name) => load(name, new URL(name, folder)));
  const lato = import.meta.resolve("@fontsource/lato/LICENSE");
  const fonts = FONTS.map((name) => load(name, new URL(`files/${name}`, lato)));
  return new Map([...own, ...fonts]);
}

function load(name: string, file: URL): [address: string, Asset] {
  const type = TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream";
  return [`/page/assets/${name}`, { type, body: readFileSync(fileURLToPath(file)) }];
}
