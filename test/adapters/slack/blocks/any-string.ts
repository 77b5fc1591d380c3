// Strings as an attacker would write them, from repeatable random numbers: markup, invisible and reordered
// characters, look-alikes, imitations of our own words, and secrets.

import type { Chance } from "../../../make/chance.ts";
import { ATOMS, MARK } from "./hostile.ts";

export type AnyString = { readonly text: string; readonly secret: string | null };

const LOOK_ALIKES = [
  "p\u0430yroll",
  "\u0441\u043E\u0441\u043E",
  "\uFF52m",
  "a\u2215b",
  "rm\u00A0-rf",
  "n\u0336o\u0336",
];
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/** Ranges of code points: those in which each kind of deception lies, and all others. */
const RANGES: readonly [readonly [number, number], ...(readonly [number, number])[]] = [
  [0x00, 0x20],
  [0x80, 0x250],
  [0x300, 0x600],
  [0x1100, 0x1200],
  [0x2000, 0x2070],
  [0x20d0, 0x2100],
  [0xe000, 0xe010],
  [0xfe00, 0xff00],
  [0x1d400, 0x1d500],
  [0x1f300, 0x1f700],
  [0xe0000, 0xe0200],
  [0, 0x110000],
];

export function anyString(by: Chance): AnyString {
  const secret = by.below(12) === 0 ? anySecret(by) : null;
  const parts = Array.from({ length: 1 + by.below(6) }, () => piece(by));
  if (secret !== null) parts.splice(by.below(parts.length + 1), 0, ` ${secret.text} `);
  const text = `${MARK}${parts.join("")}`;
  return { text, secret: secret?.part ?? null };
}

function piece(by: Chance): string {
  const kind = by.below(10);
  if (kind < 6) return ATOMS[by.below(ATOMS.length)] ?? "";
  if (kind < 7) return LOOK_ALIKES[by.below(LOOK_ALIKES.length)] ?? "";
  return Array.from({ length: 1 + by.below(8) }, () => codePoint(by)).join("");
}

function codePoint(by: Chance): string {
  const [from, to] = by.of(RANGES);
  return String.fromCodePoint(from + by.below(to - from));
}

const random = (by: Chance, length: number): string =>
  Array.from({ length }, () => LETTERS[by.below(LETTERS.length)]).join("");

function anySecret(by: Chance): { text: string; part: string } {
  const part = random(by, 40);
  const text = by.of([
    `ghp_${part}`,
    `xoxb-1-${part}`,
    `sk-ant-api03-0${part}`,
    `password=${part}`,
    `https://user:${part}@example.com/`,
    `-----BEGIN PRIVATE KEY-----\n${part}\n-----END PRIVATE KEY-----`,
    `Authorization: Bearer ${part}`,
  ]);
  return { text, part };
}
