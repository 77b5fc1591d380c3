// The command line of `npm run audit`.

import { parseArgs } from "node:util";
import { type KnownHead, parseKnownHead } from "../../domain/audit/hash-chain.ts";

/** The options of all commands that read. */
type Sources = {
  readonly publicKeys: readonly string[];
  /** Archive files. */
  readonly archives: readonly string[];
};

export type AuditCommand =
  | (Sources & {
      readonly type: "verify";
      readonly heads: readonly KnownHead[];
      /** The files of the copy that AUDIT_SINK received. */
      readonly against: readonly string[];
    })
  | (Sources & {
      readonly type: "export";
      readonly from: number;
      readonly to: number;
      readonly format: "jsonl" | "csv";
      readonly out: string | null;
      readonly tampered: boolean;
    })
  | (Sources & {
      readonly type: "show";
      readonly run: string;
      readonly tampered: boolean;
    })
  | (Sources & {
      readonly type: "report";
      readonly from: number;
      readonly to: number;
      readonly format: "md" | "csv";
      readonly out: string | null;
      readonly tampered: boolean;
    })
  | {
      readonly type: "archive";
      readonly before: number;
      readonly file: string;
      readonly withoutSink: boolean;
    }
  | { readonly type: "rotate-key"; readonly newKey: string | null }
  | { readonly type: "redact"; readonly digest: string; readonly reason: string | null }
  | { readonly type: "acknowledge"; readonly code: string; readonly reason: string };

export const USAGE = `Usage:
  npm run audit -- verify [--head "audit 1234 · 9f3c…"] [--against FILE]
      Checks whether the audit is intact. A head that was kept elsewhere (on a card, in the log, in the audit channel) proves
      that nothing up to it was cut off or rewritten. --head may be repeated.
      --against FILE compares the audit with the copy that AUDIT_SINK received. Repeat it for each file of the copy.
  npm run audit -- export [--from 2026-11-01] [--to 2026-11-30] [--format jsonl|csv] [--out FILE]
      Prints all entries of these days (UTC, last day included), with the full requests. The default format is jsonl.
  npm run audit -- show <run id>
      Tells in plain words what happened in one run.
  npm run audit -- report --from 2026-07-01 --to 2026-09-30 [--format md|csv] [--out FILE]
      Prints the control report of these days (UTC): how many approvals, by whom, how fast, exceptions, refused or failed
      attempts, unused rules. The default format is md.
  npm run audit -- archive --before 2026-01-01 FILE
      Moves the oldest entries into a signed file. The commands that read take it as --archive FILE. Stop the bot first.
      --without-sink also moves entries that AUDIT_SINK has not taken, and gives up that copy.
  npm run audit -- rotate-key [--new-key FILE]
      Replaces the key that signs the audit. The old key signs the change. Stop the bot first.
  npm run audit -- acknowledge <code> --reason "what you found"
      Lets approvals be sent again after the database was tampered with. /agent health shows the code. Stop the bot first,
      or use /agent audit acknowledge in Slack.
  npm run audit -- redact <digest> [--reason "why"]
      Permanently erases the text stored under this digest. An entry records this; the audit stays intact. With SQLite,
      stop the bot first.

verify, export, show and report read DATABASE_URL, even while the bot runs, and change nothing. They take:
  --public-key KEY  check signatures with this key (32 bytes in base64) instead of AUDIT_KEY or the key beside the database.
                    May be repeated; each key must have signed part of the audit.
  --archive FILE    read the entries of this archive file too. May be repeated.
export, show and report refuse to print an audit that was tampered with, except with:
  --tampered        print it anyway.
With SLACK_BOT_TOKEN set, show and the CSV give people's current Slack names beside their ids.

Exit code 0: success. 1: the audit was tampered with. 2: the command could not be carried out, or not completely.
verify also exits with 1 if rows outside the audit were changed, or the copy of --against differs; and with 2 if a head of
--head is in an archive file that is missing (add --archive), the key here does not sign the audit any more (NOT CHECKED),
or the copy of --against cannot be read or has no entry of this audit.
If the output is lost, the code is 2, although what rotate-key, archive, redact or acknowledge did stands.`;

const READING = ["public-key", "archive"];
const PRINTING = [...READING, "tampered"];

/** The options of each command. An option that another command takes would otherwise be ignored, and the output would seem to obey it. */
const TAKES: { readonly [command: string]: readonly string[] } = {
  verify: [...READING, "head", "against"],
  export: [...PRINTING, "from", "to", "format", "out"],
  show: PRINTING,
  report: [...PRINTING, "from", "to", "format", "out"],
  archive: ["before", "without-sink"],
  "rotate-key": ["new-key"],
  redact: ["reason"],
  acknowledge: ["reason"],
};

/** Returns the command, or a text that says what is wrong with the command line. */
export function readCommandLine(args: readonly string[]): AuditCommand | string {
  const parsed = parse(args);
  if (typeof parsed === "string") return parsed;
  const { values, positionals } = parsed;
  const [name, ...rest] = positionals;
  const option = Object.keys(values).find((each) => TAKES[name ?? ""]?.includes(each) === false);
  if (option !== undefined) return `${name} does not take --${option}`;
  if (values.out === "") return "--out is empty. Name a file, or omit --out";
  const sources = { publicKeys: values["public-key"] ?? [], archives: values.archive ?? [] };
  switch (name) {
    case "verify":
      return rest.length > 0
        ? unexpected(name, rest)
        : readVerify(values.head ?? [], sources, values.against ?? []);
    case "export":
      return rest.length > 0 ? unexpected(name, rest) : readExport(values, sources);
    case "show": {
      const [run, ...more] = rest;
      return run === undefined || more.length > 0
        ? "show needs the id of one run"
        : { type: "show", run, ...sources, tampered: values.tampered === true };
    }
    case "report":
      return rest.length > 0 ? unexpected(name, rest) : readReport(values, sources);
    case "archive":
      return readArchive(rest, values.before, values["without-sink"] === true);
    case "rotate-key":
      return rest.length > 0
        ? unexpected(name, rest)
        : { type: "rotate-key", newKey: values["new-key"] ?? null };
    case "redact":
      return readRedact(rest, values.reason);
    case "acknowledge":
      return readAcknowledge(rest, values.reason);
    case undefined:
      return "No command given";
    default:
      return `There is no command "${name}". The commands are verify, export, show, report, archive, rotate-key, redact and acknowledge`;
  }
}

const unexpected = (name: string, rest: readonly string[]): string =>
  `${name} does not take the argument "${rest.join(" ")}"`;

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        head: { type: "string", multiple: true },
        against: { type: "string", multiple: true },
        "public-key": { type: "string", multiple: true },
        from: { type: "string" },
        to: { type: "string" },
        format: { type: "string" },
        out: { type: "string" },
        archive: { type: "string", multiple: true },
        before: { type: "string" },
        "without-sink": { type: "boolean" },
        tampered: { type: "boolean" },
        "new-key": { type: "string" },
        reason: { type: "string" },
      },
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function readVerify(
  words: readonly string[],
  sources: Sources,
  against: readonly string[],
): AuditCommand | string {
  const heads = words.map((word) => parseKnownHead(word));
  const bad = heads.indexOf(null);
  if (bad >= 0)
    return `"${words[bad] ?? ""}" is not an audit head. A head looks like "audit 1234 · 9f3c21d07a5b8e64"`;
  return { type: "verify", heads: heads.filter((head) => head !== null), ...sources, against };
}

function readArchive(
  [file, ...more]: readonly string[],
  before = "",
  withoutSink: boolean,
): AuditCommand | string {
  if (file === undefined || file === "" || more.length > 0)
    return "archive needs the name of one file to write";
  const moment = dayOf(before);
  return moment === null
    ? "archive needs --before with a day (2026-01-01) or a moment (2026-01-01T12:00:00Z)"
    : { type: "archive", before: moment, file, withoutSink };
}

function readRedact([digest, ...more]: readonly string[], reason = ""): AuditCommand | string {
  if (digest === undefined || more.length > 0 || !/^[0-9a-f]{64}$/.test(digest))
    return "redact needs one digest of 64 hexadecimal digits, as show and export print it";
  return { type: "redact", digest, reason: reason.trim() === "" ? null : reason };
}

function readAcknowledge([code, ...more]: readonly string[], reason = ""): AuditCommand | string {
  if (code === undefined || more.length > 0) return "acknowledge needs the code that /agent health shows";
  return reason.trim() === ""
    ? 'acknowledge needs --reason "what you found"'
    : { type: "acknowledge", code, reason };
}

type Values = { from?: string; to?: string; format?: string; out?: string; tampered?: boolean };

function readReport(
  { from, to, format = "md", out, tampered = false }: Values,
  sources: Sources,
): AuditCommand | string {
  if (format !== "md" && format !== "csv") return `report takes --format md or csv, not "${format}"`;
  if (from === undefined || to === undefined) return "report needs --from and --to";
  const period = periodOf(from, to);
  if (typeof period === "string") return period;
  return { type: "report", ...period, format, out: out ?? null, ...sources, tampered };
}

function readExport(
  { from, to, format = "jsonl", out, tampered = false }: Values,
  sources: Sources,
): AuditCommand | string {
  if (format !== "jsonl" && format !== "csv") return `export takes --format jsonl or csv, not "${format}"`;
  const period = periodOf(from, to);
  if (typeof period === "string") return period;
  return { type: "export", ...period, format, out: out ?? null, ...sources, tampered };
}

// Parses the days and moments of the options.

const DAY_MS = 24 * 60 * 60_000;

const isDay = (text: string | undefined): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "");

/** Returns a moment, or the start of a day in UTC, in milliseconds since 1970. Returns null if the text is neither. */
export function dayOf(text: string): number | null {
  const isWellFormed =
    isDay(text) || /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const at = isWellFormed && isInCalendar(text.slice(0, DAY_CHARS)) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

const DAY_CHARS = "2026-11-30".length;

/** Refuses "2026-02-31", which Date.parse accepts. */
function isInCalendar(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** Returns the period of `--from` and `--to`, both included (ms), or a text that says what is wrong with it. */
function periodOf(
  from: string | undefined,
  to: string | undefined,
): { readonly from: number; readonly to: number } | string {
  const first = from === undefined ? 0 : dayOf(from);
  const last = to === undefined ? null : dayOf(to);
  if (first === null || (to !== undefined && last === null))
    return "--from and --to must be a day (2026-11-30) or a moment (2026-11-30T12:00:00Z)";
  const until = last === null ? Number.MAX_SAFE_INTEGER : isDay(to) ? last + DAY_MS - 1 : last;
  return until < first ? "--to is before --from" : { from: first, to: until };
}
