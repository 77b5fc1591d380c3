// Countersign's own secrets: its keys and tokens. They are registered at the start and when one is exchanged, and found in every text by value and by common
// encodings: percent-encoded, escaped as in JSON, in hex, in base64 at each of its three offsets.

export type Range = readonly [start: number, end: number];

/** Characters. A shorter value may be an ordinary word; masking it would hide what people decide about. */
const MIN_SECRET_CHARS = 8;

let known: readonly string[] = [];
let wanted: readonly string[] = [];

/**
 * One process has one set of secrets, so they are kept here instead of being passed to each drawing. May be called again: earlier
 * ones stay secret.
 */
export function keepSecrets(values: readonly string[]): void {
  known = [...new Set([...known, ...values])];
  wanted = formsOf(known.filter((value) => value.length >= MIN_SECRET_CHARS));
}

/** All of them, the short ones too. The same list until another secret is kept. */
export const keptSecrets = (): readonly string[] => known;

/** Stands where a text held one of them. */
export const ownRanges = (text: string): Range[] => rangesOf(text, wanted);

export const OWN_MARK = "⟨secret of Countersign masked⟩";

/** Each as it is, and as the unescaping of a text leaves it. */
export function formsOf(values: readonly string[]): readonly string[] {
  const forms = values.flatMap((value) =>
    [utf8(value), ...decoded(value)].flatMap((bytes) => [
      value,
      hexOf(bytes),
      hexOf(bytes).toUpperCase(),
      ...base64Cores(bytes),
    ]),
  );
  const both = forms.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
  const all = both.flatMap((form) => [form, form.replaceAll("\\", ""), unescaped(form)]);
  return [...new Set(all)].filter((form) => form.length >= MIN_SECRET_CHARS);
}

/** In order, none touching another. The text is searched as it is, too: a secret, or it and its neighbours, may look like an escape. */
export function rangesOf(text: string, forms: readonly string[]): Range[] {
  const found = forms.flatMap((form) => placesOf(form, text));
  const plain = ESCAPES.test(text) ? unescaped(text) : text;
  if (plain === text) return unitedRanges(found);
  const escaped = forms.flatMap((form) => placesOf(form, plain));
  if (escaped.length === 0) return unitedRanges(found);
  const from = origins(text, plain.length);
  return unitedRanges([
    ...found,
    ...escaped.map(([start, end]) => [from[start] ?? 0, from[end] ?? text.length] as const),
  ]);
}

/** Ranges that overlap or touch become one. */
export function unitedRanges(ranges: readonly Range[]): Range[] {
  const out: [number, number][] = [];
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = out.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else out.push([start, end]);
  }
  return out;
}

/** Stands where the text holds exactly this. */
export function placesOf(form: string, text: string): Range[] {
  const out: Range[] = [];
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length))
    out.push([at, at + form.length]);
  return out;
}

const ESCAPES = /[%\\]/;
/** A text inside texts has more than one backslash. */
const ESCAPE = /%([0-9A-Fa-f]{2})|\\+(?:u00([0-9A-Fa-f]{2})|x([0-9A-Fa-f]{2}))?/g;

const unescaped = (text: string): string => text.replace(ESCAPE, unescape);

/** The character that an escape stands for. A backslash is dropped, since each level of JSON doubles it. */
function unescape(_whole: string, percent?: string, json?: string, hex?: string): string {
  const code = Number.parseInt(percent ?? json ?? hex ?? "5c", 16);
  return code === BACKSLASH ? "" : String.fromCharCode(code);
}
const BACKSLASH = 0x5c;

/** For each character of the unescaped text, and for its end: its position in the original text. */
function origins(text: string, length: number): Uint32Array {
  const from = new Uint32Array(length + 1);
  let [at, ahead] = [0, 0];
  for (const { 0: whole, 1: percent, 2: json, 3: hex, index } of text.matchAll(ESCAPE)) {
    while (at + ahead < index) from[at] = ahead + at++;
    if (unescape(whole, percent, json, hex) !== "") from[at++] = index;
    ahead = index + whole.length - at;
  }
  while (at <= length) from[at] = ahead + at++;
  return from;
}

const utf8 = (value: string): Uint8Array => new TextEncoder().encode(value);

/** A key that is written in base64 is found by its bytes too. */
function decoded(value: string): Uint8Array[] {
  if (!/^[A-Za-z0-9+/]{40,}={0,2}$/.test(value) || value.length % 4 !== 0) return [];
  return [Uint8Array.from(atob(value), (char) => char.charCodeAt(0))];
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The part of the base64 text that does not depend on the bytes before and after. */
function base64Cores(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((offset) => {
    const padded = new Uint8Array(offset + bytes.length);
    padded.set(bytes, offset);
    const [first, last] = [Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6)];
    return btoa(String.fromCharCode(...padded)).slice(first, last);
  });
}
