// The log: one JSON line per entry, without secrets. Secrets are removed twice: by the name of the field, and by their shape or value
// anywhere in the finished line.

import { createRequire } from "node:module";
import type { Logger as SlackLogger, LogLevel } from "@slack/bolt";
import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";
import type { PrettyOptions } from "pino-pretty";
import {
  formsOf,
  keptSecrets,
  placesOf,
  type Range,
  rangesOf,
  unitedRanges,
} from "./domain/text/own-secrets.ts";

export type Log = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Returns a log that adds these fields to every entry. */
  child(fields: object): Log;
};

export type LogOptions = {
  readonly level: string;
  /** Formatted for people at a terminal; JSON without a terminal or without pino-pretty. */
  readonly pretty: boolean;
  readonly secrets?: readonly string[];
  /** True if other code also writes to process.stdout. */
  readonly sharesOutput?: boolean;
  /** Replaces standard output. */
  readonly destination?: DestinationStream;
};

const GONE = "[secret]";
const SECRET_NAMES = /^(authorization|cookie|set-cookie|password|.*(token|secret|api_?key|apikey))$/i;
const SECRET_SHAPES = /\b(xox[a-z]|xapp)-[A-Za-z0-9-]+|\bBearer\s+[A-Za-z0-9._~+/=-]+/gi;
/** The shortest secret that is removed (characters). A shorter one could match ordinary words. */
const MIN_SECRET_CHARS = 4;
/** The shortest secret that is also removed in encoded form. The base64 of a shorter one has parts that could match words. */
const MIN_ENCODED_CHARS = 8;
/** How deep nested errors and records are logged. */
const MAX_DEPTH = 5;

export function createLog({ level, pretty, secrets = [], sharesOutput, destination }: LogOptions): Log {
  const plainOutput = sharesOutput === true ? sharedOutput : standardOutput;
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: (fields) => plainRecord(fields, MAX_DEPTH) },
    hooks: { streamWrite: withoutSecrets(secrets) },
  };
  return logOn(pino(options, destination ?? (pretty ? prettyStream() : null) ?? plainOutput()));
}

function logOn(logger: Logger): Log {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => logOn(logger.child(plainRecord(fields, MAX_DEPTH))),
  };
}

/** The most that is kept in memory while standard output takes nothing (characters). Later entries are dropped. */
const MAX_UNWRITTEN = 1_000_000;

/** A full disk or a closed terminal must neither end the process nor keep it from ending. Once writing works again, the log goes on. */
function standardOutput(): DestinationStream {
  const out = pino.destination({ dest: process.stdout.fd, sync: false, maxLength: MAX_UNWRITTEN });
  let works = true;
  out.on("error", () => (works = false));
  out.on("write", () => (works = true));
  const writeRest = out.flushSync.bind(out);
  // pino calls this when the process exits. While writing fails, it would try again for ever. Accepted: a disk that fills up with the very last
  // entries can still hold up the exit, until the supervisor kills the process.
  out.flushSync = () => {
    if (works) writeRest();
  };
  return out;
}

/**
 * Two writers on one descriptor would cut each other's lines in two when a pipe is full. Accepted: if the pipe is still full when the process
 * exits, the last entries are lost.
 */
function sharedOutput(): DestinationStream {
  const { stdout } = process;
  // Without a listener, an error would end the process.
  stdout.on("error", () => undefined);
  return {
    write(line) {
      if (stdout.writableLength < MAX_UNWRITTEN) stdout.write(line);
    },
  };
}

function prettyStream(): DestinationStream | null {
  if (!process.stdout.isTTY) return null;
  try {
    const load = createRequire(import.meta.url) as (name: string) => unknown;
    const pretty = load("pino-pretty") as (options: PrettyOptions) => DestinationStream;
    return pretty({ sync: true });
  } catch {
    return null;
  }
}

/** Works on the finished line, so that it covers every message, stack and field. Also covers secrets that are registered later. */
function withoutSecrets(secrets: readonly string[]): (line: string) => string {
  let kept = keptSecrets();
  let cover = covering([...secrets, ...kept]);
  return (line) => {
    if (kept !== keptSecrets()) {
      kept = keptSecrets();
      cover = covering([...secrets, ...kept]);
    }
    return cover(line);
  };
}

/** Masks a line that bypasses the log, such as the error of a failed start. */
export const withoutKept = (line: string): string => covering(keptSecrets())(line);

function covering(secrets: readonly string[]): (line: string) => string {
  const forms = formsOf(secrets.filter((secret) => secret.length >= MIN_ENCODED_CHARS));
  const values = secrets
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const plain = [...new Set(values)];
  // Each search reads the untouched line. If one search removed text first, the next could miss a secret and leave part of it.
  return (line) => {
    const known = [...plain.flatMap((value) => placesOf(value, line)), ...rangesOf(line, forms)];
    return covered(line, [...known, ...shapesIn(line)]);
  };
}

const shapesIn = (line: string): Range[] =>
  [...line.matchAll(SECRET_SHAPES)].map(({ 0: shape, index }) => [index, index + shape.length]);

function covered(line: string, ranges: readonly Range[]): string {
  let out = line;
  for (const [start, end] of unitedRanges(ranges).toReversed())
    out = out.slice(0, start) + GONE + out.slice(end);
  return out;
}

function plainRecord(fields: object, depth: number): Record<string, unknown> {
  const entries = Object.entries(fields).map(([name, value]: [string, unknown]) => [
    name,
    SECRET_NAMES.test(name) ? GONE : plain(value, depth - 1),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function plain(value: unknown, depth: number): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth <= 0) return "[deeper]";
  if (value instanceof Error) return plainError(value, depth);
  if (Array.isArray(value)) return value.map((member) => plain(member, depth - 1));
  return value instanceof Date ? value : plainRecord(value, depth);
}

/** Omits what libraries attach to their errors, such as requests, headers and sockets. */
function plainError(error: Error, depth: number): object {
  const { name, message, stack, cause } = error;
  const code =
    "code" in error && ["string", "number"].includes(typeof error.code) ? { code: error.code } : {};
  // Its message quotes the service, which may quote a request.
  if ("quotes" in error && error.quotes === true) return { name, ...code };
  return {
    name,
    message,
    ...code,
    stack,
    ...(cause === undefined ? {} : { cause: plain(cause, depth - 1) }),
  };
}

/** Returns a logger for Slack's packages. Their debug entries contain whole payloads, so they are dropped. Of other entries, only texts and
 * errors are logged. */
export function slackLogger(log: Log): SlackLogger {
  let to = log;
  const entry = (parts: readonly unknown[]): [object, string] => {
    const words = parts.filter((part) => typeof part === "string" || typeof part === "number");
    const error = parts.find((part) => part instanceof Error);
    return [error === undefined ? {} : { error }, words.join(" ") || "(no words)"];
  };
  return {
    debug: () => {},
    info: (...parts) => to.info(...entry(parts)),
    warn: (...parts) => to.warn(...entry(parts)),
    error: (...parts) => to.error(...entry(parts)),
    // The level of our own log applies.
    setLevel: () => {},
    getLevel: () => "info" as LogLevel,
    setName(name) {
      to = log.child({ from: name });
    },
  };
}
