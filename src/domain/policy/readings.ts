// Everything that a part of a request may be read as. The code of a service may read `a.b` as a path or as a name, a list as its
// first element, or a record inside a record as the request itself. None of this may fool a policy.

import { isList, isRawNumber, isRecord, type Json, type RawNumber } from "../json.ts";

export type Scalar = string | number | RawNumber | boolean;

/** The names of a path; a dot after a backslash is part of a name. */
export function stepsOf(path: string): readonly string[] {
  return path.split(/(?<!\\)\./).map((step) => step.replaceAll("\\.", "."));
}

/**
 * The values at the path, read in the one plain way: record by record, through lists in which every element has the rest of the path.
 * Null: there is none, or it is not a text, a number, true or false.
 */
export function plainValues(content: Json, steps: readonly string[]): readonly Scalar[] | null {
  if (isList(content)) {
    const each = content.map((element) => plainValues(element, steps));
    return each.length === 0 || each.includes(null) ? null : each.flatMap((values) => values ?? []);
  }
  const [step, ...rest] = steps;
  if (step === undefined) return isScalar(content) ? [content] : null;
  const inner = isRecord(content) && Object.hasOwn(content, step) ? content[step] : undefined;
  return inner === undefined ? null : plainValues(inner, rest);
}

/** Gives names that a program may take for each other the same form (`foldName`). */
export type FoldName = (name: string) => string;

/**
 * Every text, number, true and false at or below the path, wherever the path begins in the request, however it is split and
 * however its names are written.
 */
export function everyValue(content: Json, steps: readonly string[], fold: FoldName): readonly Scalar[] {
  const found: Scalar[] = [];
  const seek = (value: Json): void => {
    if (isRecord(value)) for (const each of valuesAt(value, steps, fold)) gather(each, found);
    for (const inner of innerOf(value)) seek(inner);
  };
  seek(content);
  return found;
}

function valuesAt(value: Json, steps: readonly string[], fold: FoldName): readonly Json[] {
  if (steps.length === 0) return [value];
  if (isList(value)) return value.flatMap((element) => valuesAt(element, steps, fold));
  if (!isRecord(value)) return [];
  const wanted = steps.map((_step, index) => fold(steps.slice(0, index + 1).join(".")));
  return Object.entries(value).flatMap(([name, inner]) => {
    const folded = fold(name);
    return wanted.flatMap((each, index) =>
      each === folded ? valuesAt(inner, steps.slice(index + 1), fold) : [],
    );
  });
}

function gather(value: Json, found: Scalar[]): void {
  if (isScalar(value)) found.push(value);
  else for (const inner of innerOf(value)) gather(inner, found);
}

function innerOf(value: Json): readonly Json[] {
  if (isList(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

function isScalar(value: Json): value is Scalar {
  return ["string", "number", "boolean"].includes(typeof value) || isRawNumber(value);
}
