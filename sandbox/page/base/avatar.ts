import { html } from "./html.ts";
import type { Html } from "./html.ts";
import type { Person, PersonId } from "../../slack/model.ts";

/** How many tones the style sheet colors. A person's tone is computed from the name; the seeded people all have different tones. */
const TONES = 16;

/** Draws a picture for the app and initials for everyone else. */
export function avatar(person: Person | undefined, app?: PersonId): Html {
  if (person !== undefined && person.id === app) {
    return html`<span data-avatar="app" aria-hidden="true"
      ><svg viewBox="0 0 24 24" width="24" height="24">
        <path d="M5 12.5l4.5 4.5L19 7.5" />
        <path d="M5 20.5h14" /></svg
    ></span>`;
  }
  const name = person?.name ?? "?";
  const tone =
    Array.from(name).reduce((sum, letter) => (sum * 5 + letter.charCodeAt(0)) % 1_000_003, 0) % TONES;
  return html`<span data-avatar="person" data-tone="${tone}" aria-hidden="true">${initials(name)}</span>`;
}

function initials(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== "");
  const letters = [words.at(0), words.length > 1 ? words.at(-1) : undefined];
  return letters
    .map((word) => Array.from(word ?? "")[0] ?? "")
    .join("")
    .toUpperCase();
}
