// The command line of `npm run audit`.

import { parseArgs } from "node:util";
import { type KnownHead, parseKnownHead } from "../../domain/audit/hash-chain.ts";

/** Of all commands that read. */
type Sources = {
  readonly publicKeys: readonly string[];
  /** Files of the archive. */
  readonly archives: readonly string[];
};

export type Asked =
  | (Sources & {
      readonly type: "verify";
      readonly heads: readonly KnownHead[];
      /** Files with the copy that AUDIT_SINK has taken. */
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
  npm run audit -- verify [--head "audit 1234 · 9f3c…"]
      Is the audit whole? A head that was kept elsewhere (on a card, in the log, in the audit channel) proves that
      nothing was cut off or rewritten up to it; may be given several times.
      With --against FILE: compares it with the copy that AUDIT_SINK has taken; may be given several times, for its parts.
  npm run audit -- export [--from 2026-11-01] [--to 2026-11-30] [--format jsonl|csv] [--out FILE]
      All entries of these days (UTC), with the full requests; the last day included. JSON lines unless told otherwise.
  npm run audit -- show <run id>
      What is known of one run, in words.
  npm run audit -- report --from 2026-07-01 --to 2026-09-30 [--format md|csv] [--out FILE]
      The control report of these days (UTC): how many approvals, by whom, how fast, exceptions, refused attempts, unused rules.
  npm run audit -- archive --before 2026-01-01 FILE
      Moves the oldest entries into a signed file, which verify and the others read with --archive FILE. Stop the bot first.
      With --without-sink: also entries that AUDIT_SINK has not taken, because that copy is given up.
  npm run audit -- rotate-key [--new-key FILE]
      Another key takes over, and the old one signs that. Stop the bot first.
  npm run audit -- acknowledge <code> --reason "what you found"
      Approvals leave again after the database was tampered with. /agent health shows the code. Stop the bot first, or use
      /agent audit acknowledge in Slack.
  npm run audit -- redact <digest> [--reason "why"]
      Erases the text that is kept under this digest, for good. An entry says so; the audit stays whole. Stop the bot first.
verify, export, show and report read DATABASE_URL, also while the bot runs; they change nothing. Signatures are checked with
--public-key (32 bytes in base64; those that are given, and no other, must have signed it), else with AUDIT_KEY or the key
beside the database. --archive FILE (for each file of an archive) reads its entries too. export, show and report refuse an audit that was tampered with, unless --tampered is given.
With SLACK_BOT_TOKEN, show and the CSV have what Slack calls people now beside their ids.
Exit code 0: well. 1: the audit was tampered with. 2: it could not be done.`;

/** A text result says what is wrong with the command line. */
export function readAsked(args: readonly string[]): Asked | string {
  const parsed = parse(args);
  if (typeof parsed === "string") return parsed;
  const { values, positionals } = parsed;
  const [what, ...rest] = positionals;
  const sources = { publicKeys: values["public-key"] ?? [], archives: values.archive ?? [] };
  switch (what) {
    case "verify":
      return rest.length > 0
        ? `verify takes no "${rest.join(" ")}"`
        : verify(values.head ?? [], sources, values.against ?? []);
    case "export":
      return rest.length > 0 ? `export takes no "${rest.join(" ")}"` : exported(values, sources);
    case "show": {
      const [run, ...more] = rest;
      return run === undefined || more.length > 0
        ? "show takes the id of one run"
        : { type: "show", run, ...sources, tampered: values.tampered === true };
    }
    case "report":
      return rest.length > 0 ? `report takes no "${rest.join(" ")}"` : reported(values, sources);
    case "archive":
      return archived(rest, values.before, values["without-sink"] === true);
    case "rotate-key":
      return rest.length > 0
        ? `rotate-key takes no "${rest.join(" ")}"`
        : { type: "rotate-key", newKey: values["new-key"] ?? null };
    case "redact":
      return redact(rest, values.reason);
    case "acknowledge":
      return acknowledged(rest, values.reason);
    default:
      return what === undefined
        ? "say what to do"
        : `"${what}" is none of verify, export, show, report, archive, rotate-key, redact, acknowledge`;
  }
}

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

function verify(given: readonly string[], sources: Sources, against: readonly string[]): Asked | string {
  const heads = given.map((each) => parseKnownHead(each));
  const bad = heads.indexOf(null);
  if (bad >= 0) return `"${given[bad] ?? ""}" is no head, such as "audit 1234 · 9f3c21d07a5b8e64"`;
  return { type: "verify", heads: heads.filter((each) => each !== null), ...sources, against };
}

function archived([file, ...more]: readonly string[], before = "", withoutSink: boolean): Asked | string {
  if (file === undefined || more.length > 0) return "archive takes the file to write";
  const moment = dayOf(before);
  return moment === null
    ? "archive takes --before with a day (2026-01-01) or a moment"
    : { type: "archive", before: moment, file, withoutSink };
}

function redact([digest, ...more]: readonly string[], reason = ""): Asked | string {
  if (digest === undefined || more.length > 0 || !/^[0-9a-f]{64}$/.test(digest))
    return "redact takes one digest, 64 hexadecimal digits, as show and export print it";
  return { type: "redact", digest, reason: reason.trim() === "" ? null : reason };
}

function acknowledged([code, ...more]: readonly string[], reason = ""): Asked | string {
  if (code === undefined || more.length > 0) return "acknowledge takes the code that /agent health shows";
  return reason.trim() === ""
    ? "acknowledge needs --reason: what you found"
    : { type: "acknowledge", code, reason };
}

type Values = { from?: string; to?: string; format?: string; out?: string; tampered?: boolean };

function reported(
  { from, to, format = "md", out, tampered = false }: Values,
  sources: Sources,
): Asked | string {
  if (format !== "md" && format !== "csv") return `"${format}" is none of md, csv`;
  if (from === undefined || to === undefined) return "report takes --from and --to";
  const period = periodOf(from, to);
  if (typeof period === "string") return period;
  return { type: "report", ...period, format, out: out ?? null, ...sources, tampered };
}

function exported(
  { from, to, format = "jsonl", out, tampered = false }: Values,
  sources: Sources,
): Asked | string {
  if (format !== "jsonl" && format !== "csv") return `"${format}" is none of jsonl, csv`;
  const period = periodOf(from, to);
  if (typeof period === "string") return period;
  return { type: "export", ...period, format, out: out ?? null, ...sources, tampered };
}

// Days and moments as the commands take them.

const DAY_MS = 24 * 60 * 60_000;

const isDay = (text: string | undefined): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "");

/** Milliseconds since 1970 of a day (its first moment, UTC) or a moment. Null: it is neither. */
export function dayOf(text: string): number | null {
  const shaped =
    isDay(text) || /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const at = shaped && isInCalendar(text.slice(0, DAY_CHARS)) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

const DAY_CHARS = "2026-11-30".length;

/** "2026-02-31" is no day, although Date accepts it. */
function isInCalendar(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** The period of `--from` and `--to`, both included (ms), or what is wrong with it. */
function periodOf(
  from: string | undefined,
  to: string | undefined,
): { readonly from: number; readonly to: number } | string {
  const [first, last] = [from === undefined ? 0 : dayOf(from), to === undefined ? null : dayOf(to)];
  if (first === null || (to !== undefined && last === null))
    return "--from and --to take a day (2026-11-30) or a moment (2026-11-30T12:00:00Z)";
  const until = last === null ? Number.MAX_SAFE_INTEGER : isDay(to) ? last + DAY_MS - 1 : last;
  return until < first ? "--to is before --from" : { from: first, to: until };
}
