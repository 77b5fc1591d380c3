import type { Json } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";

/** Lists and records inside each other: more than any honest answer needs, and far less than what exhausts the stack of
 * those who walk through it. */
const MAX_DEPTH = 64;

/** The JSON value of an answer's body; the error says why there is none. */
export function readJson(body: string): Result<Json, string> {
  let json: Json;
  try {
    json = JSON.parse(body) as Json;
  } catch {
    return err("it is not JSON");
  }
  return isDeeper(json, MAX_DEPTH) ? err("its lists and records are nested too deeply") : ok(json);
}

function isDeeper(value: Json, levels: number): boolean {
  if (value === null || typeof value !== "object") return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) if (isDeeper(member, levels - 1)) return true;
  return false;
}
