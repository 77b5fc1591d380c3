// Countersign's own secrets: its keys and tokens. They are registered at the start, and when one is replaced. They are found in any text by
// value and in common encodings: percent-encoded, escaped as in JSON, in hex, and in base64 at each of its three offsets.

export type Range = readonly [start: number, end: number];

/** The shortest secret that is masked (characters). A shorter one may be an ordinary word; masking it could hide what people decide on. */
const MIN_SECRET_CHARS = 8;

let secrets: readonly string[] = [];
let searchedForms: readonly string[] = [];

/**
 * Registers secrets. A process has one set of them, so they are kept here instead of being passed to each drawing. May be called again;
 * earlier ones stay registered.
 */
export function keepSecrets(values: readonly string[]): void {
  secrets = [...new Set([...secrets, ...values])];
  searchedForms = formsOf(secrets.filter((value) => value.length >= MIN_SECRET_CHARS));
}

/** Returns all registered secrets, including short ones. The list is the same object until another secret is registered. */
export const keptSecrets = (): readonly string[] => secrets;

/** Returns where the text contains registered secrets. */
export const ownRanges = (text: string): Range[] => rangesOf(text, searchedForms);

/** Replaces a registered secret in a text. */
export const OWN_MARK = "⟨secret of Countersign masked⟩";

/**
 * Returns the forms in which the values may appear in a text: as they are, as they are usually escaped, because neighbors may hide an
 * escape, and as unescaping a text leaves them.
 */
export function formsOf(values: readonly string[]): readonly string[] {
  const forms = values.flatMap((value) =>
    [utf8(value), ...decoded(value)].flatMap((bytes) => [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      hexOf(bytes),
      hexOf(bytes).toUpperCase(),
      ...base64Cores(bytes),
    ]),
  );
  const both = forms.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
  const all = both.flatMap((form) => [form, form.replaceAll("\\", ""), unescaped(form)]);
  return [...new Set(all)].filter((form) => form.length >= MIN_SECRET_CHARS);
}

/**
 * Returns where the text contains any of the forms, also in escaped form. The ranges are in order and do not touch. The text is also
 * searched as it is, because a secret, alone or with its neighbors, may look like an escape.
 */
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

/** Merges ranges that overlap or touch. */
export function unitedRanges(ranges: readonly Range[]): Range[] {
  const out: [number, number][] = [];
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = out.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else out.push([start, end]);
  }
  return out;
}

/** Returns where the text contains the form. */
export function placesOf(form: string, text: string): Range[] {
  const out: Range[] = [];
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length))
    out.push([at, at + form.length]);
  return out;
}

const ESCAPES = /[%\\]/;
/** A text nested in other texts has more than one backslash. */
const ESCAPE = /%([0-9A-Fa-f]{2})|\\+(?:u00([0-9A-Fa-f]{2})|x([0-9A-Fa-f]{2}))?/g;

const unescaped = (text: string): string => text.replace(ESCAPE, unescape);

/** Returns the character that an escape stands for. A backslash is dropped, because each level of JSON doubles it. */
function unescape(_whole: string, percent?: string, json?: string, hex?: string): string {
  const code = Number.parseInt(percent ?? json ?? hex ?? "5c", 16);
  return code === BACKSLASH ? "" : String.fromCharCode(code);
}
const BACKSLASH = 0x5c;

/** Returns the position in the original text of each character of the unescaped text, and of its end. */
function origins(text: string, length: number): Uint32Array {
  const from = new Uint32Array(length + 1);
  let at = 0;
  let ahead = 0;
  for (const { 0: whole, 1: percent, 2: json, 3: hex, index } of text.matchAll(ESCAPE)) {
    while (at + ahead < index) from[at] = ahead + at++;
    if (unescape(whole, percent, json, hex) !== "") from[at++] = index;
    ahead = index + whole.length - at;
  }
  while (at <= length) from[at] = ahead + at++;
  return from;
}

const utf8 = (value: string): Uint8Array => new TextEncoder().encode(value);

/** Returns the bytes of a key that is written in base64, so that the key is also found by its bytes. */
function decoded(value: string): Uint8Array[] {
  if (!/^[A-Za-z0-9+/]{40,}={0,2}$/.test(value) || value.length % 4 !== 0) return [];
  return [Uint8Array.from(atob(value), (char) => char.charCodeAt(0))];
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Returns the part of the base64 text that does not depend on the bytes before and after, for each of the three offsets. */
function base64Cores(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((offset) => {
    const padded = new Uint8Array(offset + bytes.length);
    padded.set(bytes, offset);
    const start = Math.ceil((offset * 8) / 6);
    const end = Math.floor((padded.length * 8) / 6);
    return btoa(String.fromCharCode(...padded)).slice(start, end);
  });
}
