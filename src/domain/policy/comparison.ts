// Comparisons of numbers in a policy: "> 1000", "<= 0.5", ">= 10 and < 100". Numbers are compared digit by digit, as they are written,
// because a float would round them. 1e400 is a number like any other.

export type Comparison = {
  /** The conditions, all of which must hold. */
  readonly bounds: readonly Bound[];
  /** The comparison as the policy writes it. */
  readonly text: string;
};
type Bound = { readonly op: Operator; readonly than: string };
type Operator = "<" | "<=" | ">" | ">=";

/** A JSON number, because that is what the service can send. */
const NUMBER = "-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?";
const BOUND = new RegExp(`^(<=|>=|<|>) ?(${NUMBER})$`);

/** Returns whether the text begins like a comparison. In a policy, it is then a comparison or a mistake. */
export const looksLikeComparison = (text: string): boolean => /^\s*[<>]/.test(text);

/** Returns null if the text is not a comparison, or if no number can satisfy it. */
export function readComparison(text: string): Comparison | null {
  const bounds: Bound[] = [];
  for (const part of text.split(" and ")) {
    const [, op, than] = BOUND.exec(part) ?? [];
    if (op === undefined || than === undefined || !isOperator(op)) return null;
    bounds.push({ op, than });
  }
  const [first, second, ...more] = bounds;
  if (first === undefined || more.length > 0) return null;
  return second === undefined || isRange(first, second) ? { bounds, text } : null;
}

const isOperator = (op: string): op is Operator => ["<", "<=", ">", ">="].includes(op);

/** Returns whether one is a lower bound and the other an upper bound, with numbers between them. */
function isRange(a: Bound, b: Bound): boolean {
  const [low, high] = a.op.startsWith(">") ? [a, b] : [b, a];
  return low.op.startsWith(">") && high.op.startsWith("<") && compareDecimals(low.than, high.than) < 0;
}

/** `number`: a number as JSON writes it. */
export function satisfies(number: string, { bounds }: Comparison): boolean {
  return bounds.every(({ op, than }) => holds(compareDecimals(number, than), op));
}

/** Compares as a program does that keeps numbers as floats: both sides are rounded. */
export function satisfiesRounded(number: string, { bounds }: Comparison): boolean {
  const value = Number(number);
  return bounds.every(({ op, than }) => {
    const bound = Number(than);
    return holds(value < bound ? -1 : value > bound ? 1 : 0, op);
  });
}

/** Returns whether every number that satisfies `inner` also satisfies `outer`. */
export function coversComparison(outer: Comparison, inner: Comparison): boolean {
  return outer.bounds.every((wide) => inner.bounds.some((narrow) => implies(narrow, wide)));
}

function implies(narrow: Bound, wide: Bound): boolean {
  if (narrow.op[0] !== wide.op[0]) return false;
  const order = compareDecimals(narrow.than, wide.than);
  if (order === 0) return wide.op.endsWith("=") || !narrow.op.endsWith("=");
  return narrow.op.startsWith(">") ? order > 0 : order < 0;
}

function holds(order: number, op: Operator): boolean {
  if (order === 0) return op.endsWith("=");
  return op.startsWith("<") ? order < 0 : order > 0;
}

/** Returns a negative number if `a` is less than `b`. The time depends on the length of the texts, not on the values of the exponents. */
export function compareDecimals(a: string, b: string): number {
  const left = decimalOf(a);
  const right = decimalOf(b);
  if (left.sign !== right.sign) return left.sign - right.sign;
  return left.sign < 0 ? compareMagnitudes(right, left) : compareMagnitudes(left, right);
}

type Decimal = {
  readonly sign: number;
  /** The digits, without zeros at either end. */
  readonly digits: string;
  /** The power of ten of the first digit. Exponents can have any length. */
  readonly power: bigint;
};

function decimalOf(text: string): Decimal {
  const [, minus = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = whole + fraction;
  const zeros = all.length - all.replace(/^0+/, "").length;
  const digits = withoutTrailingZeros(all.slice(zeros));
  if (digits === "") return { sign: 0, digits, power: 0n };
  return {
    sign: minus === "" ? 1 : -1,
    digits,
    power: BigInt(exponent) + BigInt(whole.length - zeros - 1),
  };
}

/** Not `/0+$/`, which takes quadratic time on a text of many zeros that ends in another digit. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}

function compareMagnitudes(a: Decimal, b: Decimal): number {
  if (a.power !== b.power) return a.power < b.power ? -1 : 1;
  return a.digits < b.digits ? -1 : a.digits > b.digits ? 1 : 0;
}
