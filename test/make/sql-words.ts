// The words of SQL that Countersign sends to a server, from the server's own log.

/** For startPostgres: each statement in the log begins with the name of its application, and has no values. */
export const STATEMENTS_LOGGED = [
  "log_statement=all",
  "log_parameter_max_length=0",
  "log_line_prefix=%a|",
] as const;

const BEGINS = /^(?<application>[^|]*)\|LOG: {2}(?:statement|execute [^:]*): (?<text>.*)$/;

/** Without names in quotation marks, texts, comments and numbers. `names`: of our tables and columns. */
export function wordsSent(log: string, names: ReadonlySet<string>): ReadonlySet<string> {
  const words = new Set<string>();
  for (const statement of statements(log)) {
    const plain = statement
      .replace(/--.*$/gm, " ")
      .replace(/'(?:[^']|'')*'/g, " ")
      .replace(/"[^"]*"/g, " ")
      .toLowerCase();
    for (const [word] of plain.matchAll(/[a-z_][a-z0-9_]*/g)) if (!names.has(word)) words.add(word);
  }
  return words;
}

function statements(log: string): string[] {
  const found: string[] = [];
  let ours = false;
  for (const line of log.split("\n")) {
    const { application, text } = BEGINS.exec(line)?.groups ?? {};
    if (text !== undefined) {
      ours = application?.startsWith("countersign") === true;
      if (ours) found.push(text);
      // A statement of several lines goes on behind tabs.
    } else if (line.startsWith("\t") && ours) found.push(`${found.pop() ?? ""}\n${line}`);
    else ours = false;
  }
  return found;
}
