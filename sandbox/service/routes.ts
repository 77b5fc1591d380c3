// Maps a method and a path to the name of the endpoint and the ids in the path.

export type Route<Name extends string> = {
  readonly name: Name;
  readonly method: string;
  /** The path as in the interface document, where `{…}` stands for one segment. */
  readonly path: string;
};

export type Found<Name extends string> =
  | { readonly name: Name; readonly ids: readonly string[] }
  /** `allow` lists the methods of the path. It is empty if the path is unknown. */
  | { readonly name: null; readonly allow: readonly string[] };

export function findRoute<Name extends string>(
  routes: readonly Route<Name>[],
  method: string,
  target: string,
): Found<Name> {
  const path = target.split("?", 1)[0] ?? "";
  const allow: string[] = [];
  for (const route of routes) {
    const ids = idsIn(route.path, path);
    if (ids === null) continue;
    if (route.method === method) return { name: route.name, ids };
    allow.push(route.method);
  }
  return { name: null, allow };
}

/** Returns the ids in the path, or null if it does not match. Decodes segments after splitting, so that an id can contain a slash. */
function idsIn(pattern: string, path: string): string[] | null {
  const expected = pattern.split("/");
  const segments = path.split("/");
  if (expected.length !== segments.length) return null;
  const ids: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const wanted = expected[index] ?? "";
    if (wanted.startsWith("{")) {
      const id = decoded(segment);
      if (id === null || id === "") return null;
      ids.push(id);
    } else if (wanted !== segment) return null;
  }
  return ids;
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
