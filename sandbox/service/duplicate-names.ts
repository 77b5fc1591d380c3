// Finds duplicate names in a JSON object. Parsers differ in which value they take, so the meaning is not clear.

const mark = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** The first one in a text that is valid JSON; null: there is none. */
export function duplicateName(json: string): string | null {
  /** The names of each object that is open; null: a list. */
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [found] of json.matchAll(mark)) {
    if (found === "{") open.push(new Set());
    else if (found === "[") open.push(null);
    else if (found === "}" || found === "]") open.pop();
    else if (found === ":") {
      const name = JSON.parse(last) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    last = found;
  }
  return null;
}
