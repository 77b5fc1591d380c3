/** What a process that a test starts inherits. Node keeps its compiled modules in NODE_COMPILE_CACHE, which halves the time of a start. */
export function inheritedEnv(): { readonly [name: string]: string } {
  const { PATH = "", NODE_COMPILE_CACHE: cache } = process.env;
  return { PATH, ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }) };
}
