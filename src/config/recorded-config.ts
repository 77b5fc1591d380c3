// The configuration as the audit records it: every variable by its name, a secret only as set or not set.

import { variables } from "./variables.ts";

export type RecordedConfig = { readonly [variable: string]: string | null };

/** A variable with one of these words in its name holds a secret. */
const SECRET = /TOKEN|SECRET|KEY|PASSWORD/;
/** The user name and password of an address. */
const CREDENTIALS = /\/\/[^/@\s]*@/g;

/** `given`: the set value, or the default. Null: not set. */
export function recordedConfig(given: { readonly [name: string]: string | undefined }): RecordedConfig {
  return Object.fromEntries(variables.map(({ name }) => [name, told(name, given[name])]));
}

function told(name: string, value: string | undefined): string | null {
  if (value === undefined) return null;
  return SECRET.test(name) ? "(set)" : value.replace(CREDENTIALS, "//(hidden)@");
}
