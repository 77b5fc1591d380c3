// Fields of a request that the policy lets change without making it another request, such as the time of its last poll.

import { isRecord, type Json } from "./json.ts";

/** The digest always covers these fields. */
export const NEVER_VOLATILE: readonly string[] = ["id", "action"];

/** The paths that exist in the content. */
export function volatileIn(content: Json, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !isBound(path) && without(content, [path]) !== content);
}

const isBound = (path: string): boolean => NEVER_VOLATILE.includes(path.split(".")[0] ?? "");

/** The same object when it has none of them. A field with dots in its own name takes precedence over a path. */
export function without(content: Json, paths: readonly string[]): Json {
  return paths.reduce<Json>((left, path) => (isBound(path) ? left : cutOut(left, path)), content);
}

function cutOut(content: Json, path: string): Json {
  if (!isRecord(content)) return content;
  if (Object.hasOwn(content, path)) {
    const { [path]: _gone, ...rest } = content;
    return rest;
  }
  const dots = [...path.matchAll(/\./g)].map(({ index }) => index);
  for (const dot of dots) {
    const [head, rest] = [path.slice(0, dot), path.slice(dot + 1)];
    const inner = Object.hasOwn(content, head) ? content[head] : undefined;
    const left = inner === undefined ? undefined : cutOut(inner, rest);
    if (left !== inner && left !== undefined) return { ...content, [head]: left };
  }
  return content;
}
