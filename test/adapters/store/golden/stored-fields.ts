// Lists the fields of stored runs and forms, with the kind of each value, as their schemas have them.

import { z } from "zod";
import { formDocument, runDocument } from "#src/adapters/store/run-document.ts";

export const fieldsFile = (version: number): URL => new URL(`fields-${version}.txt`, import.meta.url);

/** One field a line, sorted. */
export const storedFields = (): string =>
  [...new Set([...fieldsOf(runDocument, "run"), ...fieldsOf(formDocument, "form")])]
    .toSorted()
    .map((line) => `${line}\n`)
    .join("");

/** `within` are the records around this one, because a decision contains decisions. */
function fieldsOf(schema: unknown, path: string, within: readonly unknown[] = []): readonly string[] {
  if (schema instanceof z.ZodObject) {
    if (within.includes(schema)) return [`${path}: as above`];
    const { type, ...shape } = schema.def.shape;
    const at = type instanceof z.ZodLiteral ? `${path}(${String(type.value)})` : path;
    const fields = Object.entries(shape);
    if (fields.length === 0) return [`${at}: no field`];
    return fields.flatMap(([name, field]) => fieldsOf(field, `${at}.${name}`, [...within, schema]));
  }
  if (schema instanceof z.ZodArray) return fieldsOf(schema.def.element, `${path}[]`, within);
  if (schema instanceof z.ZodUnion)
    return schema.def.options.flatMap((option) => fieldsOf(option, path, within));
  if (schema instanceof z.ZodLazy) return fieldsOf(schema.def.getter(), path, within);
  const inner = innerOf(schema);
  if (inner !== null) return fieldsOf(inner, path, within);
  if (!(schema instanceof z.ZodType)) throw new TypeError(`${path} has no schema`);
  const member = schema.meta()?.["member"];
  if (member !== undefined) return fieldsOf(member, `${path}{}`, within);
  return [`${path}: ${schema.def.type}`];
}

/** What may be missing or null is a field all the same. */
function innerOf(schema: unknown): unknown {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) return schema.def.innerType;
  return schema instanceof z.ZodExactOptional ? schema.def.innerType : null;
}
