// Compares JSON with types, using the compiler's own API. TypeScript 7 calls this API unstable. If an update of TypeScript requires a
// change here, `tsc` reports it.

import { fileURLToPath } from "node:url";
import type { Node } from "typescript/unstable/ast";
import { isInterfaceDeclaration } from "typescript/unstable/ast/is";
import { API, type Checker, type Type, TypeFlags } from "typescript/unstable/sync";
import type { PublishedName } from "./published-types.ts";

export type OpenTypes = {
  /** Returns the paths in the value that the type does not have. A path "is open" if the type allows any field and names none. */
  readonly strange: (name: PublishedName, value: unknown) => readonly string[];
  /** Whether the type has this path. A part `*` is the key of a record. */
  readonly has: (name: PublishedName, path: readonly string[]) => boolean;
  readonly names: readonly string[];
  readonly close: () => void;
};

const folder = fileURLToPath(new URL("./", import.meta.url));

/** A separate project, so that the compiler reads only Slack's packages. */
const project = `${folder}tsconfig.json`;
const options = { module: "nodenext", target: "esnext", lib: ["esnext"], types: [], strict: true };
const projectText = JSON.stringify({
  compilerOptions: { ...options, noEmit: true, skipLibCheck: true },
  files: ["published-types.ts"],
});

export function openTypes(): OpenTypes {
  const fs = {
    readFile: (path: string) => (path === project ? projectText : undefined),
    fileExists: (path: string) => path === project || undefined,
  };
  const api = new API({ cwd: folder, fs });
  const opened = api.updateSnapshot({ openProjects: [project] }).getProject(project);
  const file = opened?.program.getSourceFile(`${folder}published-types.ts`);
  const declared = file?.statements.flatMap(nameOf).find(({ text }) => text === "PublishedTypes");
  const named = declared && opened?.checker.getTypeAtLocation(declared);
  if (opened === undefined || named === undefined) throw new Error("the compiler found no PublishedTypes");
  const { checker } = opened;
  const reader = createReader(checker);
  const fields = new Map(checker.getPropertiesOfType(named).map((each) => [each.name, each]));
  const typeOf = (name: PublishedName): readonly Type[] => {
    const field = fields.get(name);
    const type = field && checker.getTypeOfSymbol(field);
    if (type === undefined) throw new Error(`PublishedTypes has no ${name}`);
    return reader.membersOf(type);
  };
  return {
    strange: (name, value) => reader.strangeIn(value, typeOf(name), name),
    has: (name, path) => reader.hasPath(typeOf(name), path),
    names: [...fields.keys()],
    close: () => api.close(),
  };
}

const nameOf = (statement: Node): (Node & { readonly text: string })[] =>
  isInterfaceDeclaration(statement) ? [statement.name] : [];

function createReader(checker: Checker) {
  /** Returns the members of a union, without undefined. */
  const membersOf = (type: Type): readonly Type[] => {
    const members = (type.isUnionType() ? (type.getTypes() ?? []) : [type]).flatMap((one) =>
      one.isUnionType() ? membersOf(one) : [one],
    );
    return members.filter(({ flags }) => (flags & TypeFlags.Undefined) === 0);
  };
  const fieldsOf = new Map<number, ReadonlyMap<string, readonly Type[]>>();
  const fields = (type: Type): ReadonlyMap<string, readonly Type[]> => {
    const before = fieldsOf.get(type.id);
    if (before !== undefined) return before;
    const found = new Map(
      checker.getPropertiesOfType(type).map((each) => {
        const own = checker.getTypeOfSymbol(each);
        return [each.name, own === undefined ? [] : membersOf(own)] as const;
      }),
    );
    fieldsOf.set(type.id, found);
    return found;
  };
  const recordOf = (type: Type): Type | undefined => checker.getIndexInfosOfType(type)[0]?.valueType;
  const isAny = ({ flags }: Type): boolean => (flags & (TypeFlags.Any | TypeFlags.Unknown)) !== 0;

  const itemsOf = (types: readonly Type[]): readonly Type[] =>
    types
      .filter((type) => checker.isArrayLikeType(type))
      .flatMap((type) => (type.isTypeReference() ? checker.getTypeArguments(type) : []))
      .flatMap(membersOf);

  /** Returns the members whose literal fields, such as `type`, match the value. */
  const fitting = (value: Readonly<Record<string, unknown>>, types: readonly Type[]): readonly Type[] => {
    const judged = types.map((type) => {
      let exact = 0;
      for (const [name, members] of fields(type)) {
        const literals = members.flatMap((one) => (one.isStringLiteralType() ? [one.value] : []));
        const given = value[name];
        if (literals.length === 0 || literals.length < members.length || given === undefined) continue;
        if (!literals.some((one) => one === given)) return { type, exact: -1 };
        exact += 1;
      }
      return { type, exact };
    });
    const best = Math.max(...judged.map(({ exact }) => exact));
    return best < 0 ? [] : judged.filter(({ exact }) => exact === best).map(({ type }) => type);
  };

  const strangeIn = (value: unknown, types: readonly Type[], path: string): readonly string[] => {
    if (types.some(isAny)) return [];
    if (Array.isArray(value)) {
      const items = itemsOf(types);
      if (!types.some((type) => checker.isArrayLikeType(type))) return [`${path} is a list`];
      return value.flatMap((item) => strangeIn(item, items, `${path}[]`));
    }
    if (typeof value !== "object" || value === null) return kindOf(value, types, path);
    const objects = types.filter((type) => isObject(type) && !checker.isArrayLikeType(type));
    if (objects.length === 0) return [`${path} is an object`];
    return strangeFields(value as Readonly<Record<string, unknown>>, objects, path);
  };

  const strangeFields = (
    value: Readonly<Record<string, unknown>>,
    objects: readonly Type[],
    path: string,
  ): readonly string[] => {
    const among = fitting(value, objects);
    if (among.length === 0) return [`${path} has another type or subtype`];
    return Object.entries(value).flatMap(([name, held]) => {
      const named = among.flatMap((type) => fields(type).get(name) ?? []);
      if (among.some((type) => fields(type).has(name))) return strangeIn(held, named, `${path}.${name}`);
      const records = among.flatMap((type) => recordOf(type) ?? []);
      if (records.length > 0 && !records.some(isAny))
        return strangeIn(held, records.flatMap(membersOf), `${path}.*`);
      const open = records.length > 0 && among.every((type) => fields(type).size === 0);
      return [open ? `${path}.* is open` : `${path}.${name}`];
    });
  };

  const hasPath = (types: readonly Type[], [first, ...rest]: readonly string[]): boolean => {
    if (first === undefined || types.some(isAny)) return true;
    if (first === "[]") return hasPath(itemsOf(types), rest);
    const inside = types.flatMap((type) =>
      first === "*" ? membersOf(recordOf(type) ?? type) : (fields(type).get(first) ?? []),
    );
    const there = first === "*" || types.some((type) => fields(type).has(first));
    return there && hasPath(inside, rest);
  };

  return { membersOf, strangeIn, hasPath };
}

const isObject = ({ flags }: Type): boolean => (flags & (TypeFlags.Object | TypeFlags.Intersection)) !== 0;

const KINDS = {
  string: TypeFlags.StringLike,
  number: TypeFlags.NumberLike,
  boolean: TypeFlags.BooleanLike,
  object: TypeFlags.Null,
} as const;

/** Returns a fault if the value is a primitive or null that none of the types allows. */
function kindOf(value: unknown, types: readonly Type[], path: string): readonly string[] {
  const kind = typeof value as keyof typeof KINDS;
  const fits = types.some(({ flags }) => (flags & KINDS[kind]) !== 0);
  return fits ? [] : [`${path} is ${value === null ? "null" : `a ${kind}`}`];
}
