// Scans a JSON text once for what JSON.parse hides: duplicate names, escaped surrogates, numbers that JavaScript would write differently, and
// nesting. It runs on every poll, so it skips strings with `indexOf` and keeps none of their content.

/** The maximum nesting of lists and records: deeper than any honest answer, and far from exhausting the stack of recursive code. */
const MAX_DEPTH = 64;
/**
 * The maximum number of values and names in one item or field of a run, or in an answer that is read at once. No person could review more. Each
 * costs memory and time: a name a few microseconds until its card is drawn.
 */
const MAX_VALUES = 10_000;
const MAX_NAMES = 3_000;
/** The limit for an answer that is read in pieces. */
const MAX_VALUES_IN_ALL = 150_000;
const MAX_NAMES_IN_ALL = 10_000;

export type Fault =
  | { readonly type: "name-twice"; readonly name: string }
  | { readonly type: "too-many-items"; readonly count: number }
  | { readonly type: "not-json" | "not-utf8" | "half-character" | "too-deep" | "too-many-values" };

/**
 * `exact`: JavaScript writes every number as the text does. `surrogates`: a string holds an escaped surrogate, perhaps half a pair. A
 * text that is not JSON may pass; JSON.parse refuses it.
 */
export type Scan = { readonly fault: Fault | null; readonly exact: boolean; readonly surrogates: boolean };

const [QUOTE, STROKE, COLON, COMMA, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x3a, 0x2c, 0x2d, 0x30, 0x39];
const [OPEN_LIST, CLOSE_LIST, OPEN_RECORD, CLOSE_RECORD] = [0x5b, 0x5d, 0x7b, 0x7d];
/** JavaScript keeps every whole number of this many digits exactly. */
const EXACT_DIGITS = 15;

export function scan(text: string): Scan {
  const state: State = {
    text,
    stroke: -1,
    last: "",
    lastHasStroke: false,
    names: [],
    values: 1,
    named: 0,
    exact: true,
    surrogates: false,
  };
  for (let at = 0; at < text.length;) {
    const step = next(state, at);
    if (typeof step !== "number") return { fault: step, exact: false, surrogates: false };
    at = step;
  }
  return { fault: null, exact: state.exact, surrogates: state.surrogates };
}

/** Tests whether the text is too large even to be read in pieces. Stops at the limit. */
export function holdsTooMuch(text: string): boolean {
  const seen = { stroke: -1 };
  let [values, names] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at, seen);
      if (end < 0) return false;
      at = end;
    } else if (code === COLON) names += 1;
    else if (code === COMMA || code === OPEN_LIST || code === OPEN_RECORD) values += 1;
    if (values > MAX_VALUES_IN_ALL || names > MAX_NAMES_IN_ALL) return true;
  }
  return false;
}

type State = {
  readonly text: string;
  /** The position of the next backslash, as far as we have searched. */
  stroke: number;
  /** The last string as it is written, without its quotes; before a colon it is a name. */
  last: string;
  lastHasStroke: boolean;
  /** The names of each open record; null for a list. */
  readonly names: (Set<string> | null)[];
  values: number;
  /** How many names there are in all records together. */
  named: number;
  exact: boolean;
  surrogates: boolean;
};

/** Returns the position at which to continue, or the fault. */
function next(state: State, at: number): number | Fault {
  const { text, names } = state;
  const code = text.charCodeAt(at);
  switch (code) {
    case QUOTE:
      return string(state, at);
    case OPEN_RECORD:
    case OPEN_LIST:
      if (names.length >= MAX_DEPTH) return { type: "too-deep" };
      names.push(code === OPEN_RECORD ? new Set() : null);
      return counted(state, at + 1);
    case CLOSE_RECORD:
    case CLOSE_LIST:
      names.pop();
      return at + 1;
    case COLON: {
      const known = names.at(-1);
      const name = state.lastHasStroke ? unescaped(state.last) : state.last;
      if (name === null) return { type: "not-json" };
      if (known?.has(name) === true) return { type: "name-twice", name };
      known?.add(name);
      state.named += 1;
      return state.named > MAX_NAMES ? { type: "too-many-values" } : at + 1;
    }
    case COMMA:
      return counted(state, at + 1);
    default:
      return code === MINUS || (code >= ZERO && code <= NINE) ? number(state, at) : at + 1;
  }
}

function counted(state: State, at: number): number | Fault {
  state.values += 1;
  return state.values > MAX_VALUES ? { type: "too-many-values" } : at;
}

function string(state: State, from: number): number | Fault {
  const { text } = state;
  const end = endOfString(text, from, state);
  if (end < 0) return { type: "not-json" };
  const inside = text.slice(from + 1, end);
  state.last = inside;
  state.lastHasStroke = state.stroke > from && state.stroke < end;
  state.surrogates ||= state.lastHasStroke && SURROGATE_ESCAPE.test(inside);
  return end + 1;
}

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

function unescaped(inside: string): string | null {
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    return null;
  }
}

/** The position of the closing quote of the string at `from`; -1 if there is none. `seen` saves a second search for backslashes. */
export function endOfString(text: string, from: number, seen: { stroke: number }): number {
  const end = text.indexOf('"', from + 1);
  if (end < 0) return -1;
  if (seen.stroke <= from && seen.stroke < text.length) seen.stroke = strokeAfter(text, from);
  if (seen.stroke > end || !isEscaped(text, end)) return end;
  // Where one quote is escaped, there may be millions: from here on, a search for each would be slower than a look at each character.
  for (let at = end + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === STROKE) at += 1;
  }
  return -1;
}

function strokeAfter(text: string, from: number): number {
  const found = text.indexOf("\\", from + 1);
  return found < 0 ? text.length : found;
}

function isEscaped(text: string, at: number): boolean {
  let strokes = 0;
  while (text.charCodeAt(at - 1 - strokes) === STROKE) strokes += 1;
  return strokes % 2 === 1;
}

function number(state: State, from: number): number {
  const { text } = state;
  let end = from + 1;
  while (end < text.length && isInNumber(text.charCodeAt(end))) end += 1;
  const digits = end - from <= EXACT_DIGITS && isPlain(text, from, end);
  if (!digits && state.exact) {
    const written = text.slice(from, end);
    state.exact = String(Number(written)) === written;
  }
  return end;
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
/** Digits, and + - . E e */
const isInNumber = (code: number): boolean =>
  isDigit(code) || code === 0x2b || code === MINUS || code === 0x2e || code === 0x45 || code === 0x65;

function isPlain(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}
