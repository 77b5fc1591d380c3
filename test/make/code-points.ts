import * as fc from "fast-check";

/** The number of code points without the surrogates, and where the surrogates begin. */
const SCALAR_VALUES = 0x11_0000 - 0x800;
const SURROGATES = 0xd800;

/**
 * A unit for `fc.string` with the same code points as "binary". The built-in unit creates a table of all code points, which takes seconds
 * of CPU time in each file that uses it.
 */
export const anyCodePoint: fc.Arbitrary<string> = fc.nat({ max: SCALAR_VALUES - 1 }).map(
  (index) => String.fromCodePoint(index < SURROGATES ? index : index + 0x800),
  (char) => {
    const point = typeof char === "string" ? char.codePointAt(0) : undefined;
    if (point === undefined || char !== String.fromCodePoint(point))
      throw new TypeError("not one code point");
    if (point >= SURROGATES && point < SURROGATES + 0x800) throw new TypeError("a surrogate");
    return point < SURROGATES ? point : point - 0x800;
  },
);
