// Reads JSON as it was sent: numbers keep their digits, and a text that parsers read differently is a fault.

import { type Json, parseJson } from "../../domain/json.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { type Fault, scan } from "./json-scan.ts";

/** The JSON value of an answer's body; the error says why there is none. */
export function readJson(body: string): Result<Json, string> {
  const read = readExactly(body);
  return read.ok ? read : err(faultWords(read.error));
}

export function readExactly(text: string): Result<Json, Fault> {
  const { fault, exact } = scan(text);
  if (fault !== null) return err(fault);
  try {
    return ok(exact ? (JSON.parse(text) as Json) : parseJson(text));
  } catch {
    return err({ type: "not-json" });
  }
}

const MAX_NAME_CHARS = 80;

/** Words that can follow "because" in a sentence about "it". */
export function faultWords(fault: Fault): string {
  switch (fault.type) {
    case "name-twice":
      return `the name ${JSON.stringify(fault.name.slice(0, MAX_NAME_CHARS))} stands twice in one of its records`;
    case "too-many-items":
      return `it stands behind so many others that it is not read, like all ${fault.count} that are left`;
    case "not-json":
      return "it is not JSON";
    case "not-utf8":
      return "it is not valid UTF-8";
    case "half-character":
      return "it holds half of a character (a lone surrogate)";
    case "too-deep":
      return "its lists and records are nested too deeply";
    case "too-many-values":
      return "it holds too many values";
  }
}
