// The SQL keywords that Countersign sends to a server, taken from the server's log.

/** Settings for startPostgres: each logged statement begins with the name of the application, and contains no values. */
export const STATEMENTS_LOGGED = [
  "log_statement=all",
  "log_parameter_max_length=0",
  "log_line_prefix=%a|",
] as const;

const BEGINS = /^(?<application>[^|]*)\|LOG: {2}(?:statement|execute [^:]*): (?<text>.*)$/;

/** Returns the words, without quoted names, texts, comments, numbers and `names`, which are those of our tables and columns. */
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
      // A statement of several lines continues after a tab.
    } else if (line.startsWith("\t") && ours) found.push(`${found.pop() ?? ""}\n${line}`);
    else ours = false;
  }
  return found;
}
