// Texts that try to deceive their reader. Written as code point numbers, so that this file deceives no one.

/** Each hides at least one code point that readers cannot see. */
export const INVISIBLE: readonly string[] = [
  [0x00, 0x01, 0x07, 0x08, 0x0b, 0x0c, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9b], // controls
  [0xad, 0x600, 0x61c, 0x6dd, 0x70f, 0x8e2, 0x180e], // soft hyphen, Arabic and Syriac marks, Mongolian separator
  [0x200b, 0x200c, 0x200d, 0x200e, 0x200f], // zero width, joiners, direction marks
  [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069], // bidi embeddings, overrides, isolates
  [0x2028, 0x2029, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x206a, 0x206f], // separators, word joiner, unseen operators
  [0xfeff, 0xfff9, 0xfffa, 0xfffb, 0xffff, 0x1fffe], // byte order mark, annotations, noncharacters
  [0x115f, 0x1160, 0x3164, 0xffa0, 0x2800], // fillers, Braille blank
  [0x34f, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180f], // grapheme joiner, Khmer and Mongolian
  [0xe000, 0xf8ff, 0x100000], // private use
  [0xfe00, 0xfe01, 0xe0100, 0xe01ef], // variation selectors without an emoji before them: they smuggle bytes
  [0xe0001, 0xe0020, 0xe0041, 0xe007f], // tags
  [0x1d159, 0x1d173, 0x1bca0], // notation
  [0x378, 0x2fe0], // unassigned
]
  .flat()
  .map((point) => `delete${String.fromCodePoint(point)}nothing`)
  .concat(["lone \uD800 half", "\uDC00", "rm -rf /\u202E# mir\u202C", "👩\u200D💻 a\u200Db", "👩\u200D"]);

/** Left unmarked: other scripts, accents, emoji, and the white space that shapes a text. */
export const STAYS: readonly string[] = [
  "plain",
  "tab\tand\nnewline",
  "naïve café, e\u0301",
  "Привет, 你好, مرحبا, שלום, नमस्ते",
  "👩\u200D💻 👍🏽 ❤️\u200D🔥",
  "🏳️\u200D🌈",
  "1 < 2 & <script> `*_~",
  "",
];

/** Renders as nothing at all. */
export const LOOKS_BLANK: readonly string[] = [
  "",
  " ",
  "\n\t\r\n",
  "\u00A0\u2003\u3000",
  "\u200B",
  "\u2800",
  "\u3164\uFFA0\u115F",
  "\u202E \u202C",
  "\uFEFF",
  "\u{E0041}\u{E007F}",
  "\u00AD\u2060",
  "\u034F",
];
