// Finds the line of a path in a YAML document, so that a message can name it.

import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";

/** A fault of the file, or something in it that is probably a mistake. */
export type Finding = { readonly line: number; readonly where: string; readonly says: string };

type Path = readonly PropertyKey[];
export type Lined = {
  readonly value: unknown;
  readonly faults: readonly Finding[];
  readonly lineOf: (path: Path) => number;
};

export function readLines(text: string): Lined {
  const lines = new LineCounter();
  const doc = parseDocument(text, {
    lineCounter: lines,
    strict: true,
    uniqueKeys: true,
    prettyErrors: false,
  });
  const faults = [...doc.errors, ...doc.warnings].map(({ pos, message }) => ({
    line: lines.linePos(pos[0]).line,
    where: "",
    says: message,
  }));
  const lineOf = (path: Path): number => lines.linePos(offsetOf(doc, path)).line || 1;
  return { value: faults.length > 0 ? null : valueOf(doc, faults), faults, lineOf };
}

function valueOf(doc: Document, faults: Finding[]): unknown {
  try {
    return doc.toJS({ maxAliasCount: 50 });
  } catch (error) {
    faults.push({ line: 1, where: "", says: error instanceof Error ? error.message : String(error) });
    return null;
  }
}

/** Follows the path as far as the document has it. */
function offsetOf(doc: Document, path: Path): number {
  let node: unknown = doc.contents;
  let offset = startOf(doc.contents) ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
      if (pair === undefined) return offset;
      offset = isScalar(pair.key) ? (startOf(pair.key) ?? offset) : offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = startOf(node) ?? offset;
    } else return offset;
  }
  return offset;
}

function startOf(node: unknown): number | null {
  return (node as Node | null | undefined)?.range?.[0] ?? null;
}

/** rules[2].when.channel */
export function written(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
}
