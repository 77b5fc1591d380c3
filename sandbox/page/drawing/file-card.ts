// A file of the workspace: its name, a download link and, for a text file, a preview.
import type { File } from "../../slack/model.ts";
import { html } from "../base/html.ts";
import type { Html } from "../base/html.ts";

/** How many characters of a file a message shows. The download has the rest. */
const PREVIEW_CHARACTERS = 20_000;

export function fileCard(file: File | undefined, id: string): Html {
  if (file === undefined) return html`<p data-undrawn>This file no longer exists (${id}).</p>`;
  const name = file.title || file.name;
  const text = plainText(file.bytes);
  const about = [name === file.name ? "" : file.name, kindOf(file.name, text), sizeOf(file.bytes.length)];
  return html`<section data-file aria-label="File ${name}">
    <div data-about>
      <span data-sign aria-hidden="true">${isPng(file.bytes) ? "🖼" : text === undefined ? "📦" : "📄"}</span>
      <p>
        <strong>${name}</strong>
        <span data-note>${about.filter((one) => one !== "").join(" · ")}</span>
      </p>
      <a href="/page/file/${file.id}" download="${file.name}" data-look="plain" aria-label="Download ${name}"
        >Download</a
      >
    </div>
    ${isPng(file.bytes) ? picture(file) : null} ${text === undefined || text === "" ? null : preview(text)}
  </section>`;
}

const PNG = [0x89, 0x50, 0x4e, 0x47];

export const isPng = (bytes: Uint8Array): boolean => PNG.every((byte, at) => bytes[at] === byte);

function picture({ id, description }: File): Html {
  return html`<img src="/page/file/${id}" alt="${description}" />`;
}

function preview(text: string): Html {
  const shown = text.slice(0, PREVIEW_CHARACTERS);
  const rest = text.length - shown.length;
  return html`<details>
    <summary>Preview</summary>
    <pre tabindex="0">${shown}</pre>
    ${rest > 0 ? html`<p data-note>${rest.toLocaleString("en-US")} more characters are in the download.</p>` : null}
  </details>`;
}

function kindOf(name: string, text: string | undefined): string {
  const extension = /\.([a-z0-9]{1,8})$/i.exec(name)?.[1];
  if (extension !== undefined) return extension.toUpperCase();
  return text === undefined ? "Binary" : "Plain text";
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function plainText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
