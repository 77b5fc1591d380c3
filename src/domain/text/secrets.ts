// Masks secrets. In a channel everybody reads what an agent writes, so secrets of well-known shapes are masked there; the person who
// decides sees them in the form. Countersign's own secrets are masked everywhere. A mask always covers the whole secret.

import { groupDigits } from "./group-digits.ts";
import { OWN_MARK, ownRanges, type Range } from "./own-secrets.ts";
import { secretRanges, united } from "./secret-shapes.ts";

export type Masked = { readonly text: string; readonly secrets: readonly string[] };

/** `open` for the person who decides; `masked` for a channel. */
export type Drawing = "open" | "masked";

/** A part of the text that must not be shown. Our own secrets are shown to nobody, so they are not listed either. */
export type Veil = { readonly range: Range; readonly own: boolean };

/** A field with such a name holds only a secret. */
const SECRET_NAME =
  /(?:^|[_-])(?:password|passwd|passphrase|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|signing[_-]?key|credentials?)$/i;
/** Shorter values are words. */
const MIN_FIELD_CHARS = 6;
const MAX_NAME_CHARS = 200;

/** In order, none touching another. A shape around one of our own secrets is masked with it. */
export function veils(text: string, as: Drawing): Veil[] {
  const own = united(ownRanges(text));
  if (as === "open") return own.map((range) => ({ range, own: true }));
  const all = own.length === 0 ? secretRanges(text) : united([...own, ...secretRanges(text)]);
  return all.map((range) => ({ range, own: own.some(([at]) => at >= range[0] && at < range[1]) }));
}

export function veiled(text: string, over: readonly Veil[]): string {
  if (over.length === 0) return text;
  let [out, at] = ["", 0];
  for (const { range, own } of over) {
    out += text.slice(at, range[0]) + (own ? OWN_MARK : mark(range[1] - range[0]));
    at = range[1];
  }
  return out + text.slice(at);
}

export function masked(text: string): Masked {
  const over = veils(text, "masked");
  return { text: veiled(text, over), secrets: secretsUnder(text, over) };
}

/** As above; a field whose name says that it is a secret is masked whole. */
export function maskedField(name: string, text: string): Masked {
  const over = fieldVeils(name, text);
  return { text: veiled(text, over), secrets: secretsUnder(text, over) };
}

export function fieldVeils(name: string, text: string): Veil[] {
  return isSecretField(name, text)
    ? [{ range: [0, text.length], own: ownRanges(text).length > 0 }]
    : veils(text, "masked");
}

export function isSecretField(name: string, text: string): boolean {
  const camel = name.slice(-MAX_NAME_CHARS).replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_");
  return SECRET_NAME.test(camel) && text.length >= MIN_FIELD_CHARS && !/\s/.test(text.trim());
}

export function secretsUnder(text: string, over: readonly Veil[]): string[] {
  return over.flatMap(({ range, own }) => (own ? [] : [text.slice(...range)]));
}

function mark(chars: number): string {
  return `⟨${groupDigits(chars)} characters masked⟩`;
}
