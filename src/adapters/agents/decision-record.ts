// Reads what the answer to a decision says about its outcome, in any field and however deeply nested. INTERFACE.md documents neither
// the words of an approval's status nor an envelope, so every word that is not known to mean yes counts as a doubt.

import type { Verdict } from "../../domain/approval.ts";
import type { Json } from "../../domain/json.ts";
import { isList, isRawNumber, isRecord, numberText } from "../../domain/json.ts";
import {
  CONTEXT_NAMES,
  ERROR_NAMES,
  FLAGS,
  OUTCOME_NAMES,
  RUN_GOES_ON,
  TEXT_NAMES,
  WORD_NAMES,
  wordsFor,
} from "./decision-words.ts";

export type SentDecision = {
  readonly run: string;
  readonly approval: string;
  readonly verdict: Verdict;
  /** The service's word for deny. */
  readonly denyWord: string;
  readonly reason: string;
};

/** Errors and doubts are our own words. They complete the sentence "..., but it ". */
export type RecordSays = {
  readonly error: string | null;
  /** The service's word for another outcome than ours. */
  readonly contrary: string | null;
  readonly doubt: string | null;
};

/** More values than any honest answer has. */
const MAX_VALUES = 20_000;
/** How Go writes a time that is not set. */
const ZERO_TIME = /^0001-01-01T/;

/** What a record describes: the approval, the run, or something with another id. */
type About = "approval" | "run" | "other";

export function readRecord(record: { readonly [name: string]: Json }, sent: SentDecision): RecordSays {
  const reader = new RecordReader(sent);
  reader.record(record, aboutOf(record, sent, "approval"));
  return reader.says();
}

function aboutOf(record: { readonly [name: string]: Json }, sent: SentDecision, outer: About): About {
  const id = idOf(record["id"]);
  if (id === null) return outer;
  return id === sent.approval ? "approval" : id === sent.run ? "run" : "other";
}

/** Ids may be numbers (`addresses.ts`). Null: no id. */
export function idOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : numberText(value ?? null);
}

class RecordReader {
  readonly #sent: SentDecision;
  readonly #yes: ReadonlySet<string>;
  readonly #no: ReadonlySet<string>;
  #left = MAX_VALUES;
  #error: string | null = null;
  #contrary: string | null = null;
  #doubt: string | null = null;
  #saysYes = false;
  #hasText = false;

  constructor(sent: SentDecision) {
    this.#sent = sent;
    const { yes, no } = wordsFor(sent.verdict, sent.denyWord.toLowerCase());
    this.#yes = yes;
    this.#no = no;
  }

  says(): RecordSays {
    const text = this.#hasText && !this.#saysYes ? "says in a text what became of it" : null;
    return { error: this.#error, contrary: this.#contrary, doubt: this.#doubt ?? text };
  }

  record(record: { readonly [name: string]: Json }, about: About): void {
    const run = idOf(record["run_id"]);
    if (run !== null && run !== this.#sent.run) this.#doubts("is about another run");
    for (const [name, value] of Object.entries(record)) this.#field(name, value, about);
  }

  #field(name: string, value: Json, about: About): void {
    this.#left -= 1;
    if (this.#left < 0) return this.#doubts("is too long to be judged");
    const parts = partsOf(name);
    const [first = "", last = ""] = [parts[0], parts.at(-1)];
    if (CONTEXT_NAMES.has(last)) return;
    if (parts.join("_") === "pending_approvals") return this.#pendingApprovals(value);
    if (parts.some((part) => ERROR_NAMES.has(part))) return this.#errorField(value);
    if (last === "at" || last === "by") return this.#stamp(first, value, about);
    if (TEXT_NAMES.has(last) && !isRecord(value) && !isList(value)) return this.#text(value);
    if (parts.some((part) => OUTCOME_NAMES.has(part))) return this.#outcome(value, about);
    if (FLAGS.has(last)) return this.#flag(parts.includes("not") ? name : last, value, about);
    this.#inside(value, namedAbout(last, about));
  }

  /** Records and lists inside a record. If a list names our approval, its other records are about other approvals. */
  #inside(value: Json, about: About): void {
    if (isRecord(value)) return this.record(value, aboutOf(value, this.#sent, about));
    if (!isList(value)) return;
    const ours = value.filter((item) => isRecord(item) && idOf(item["id"]) === this.#sent.approval);
    for (const item of ours.length > 0 ? ours : value) {
      this.#left -= 1;
      if (this.#left < 0) return this.#doubts("is too long to be judged");
      this.#inside(item, about);
    }
  }

  #pendingApprovals(value: Json): void {
    if (value === null) return;
    const lists = (item: Json): boolean =>
      idOf(isRecord(item) ? item["id"] : item) === this.#sent.approval || isList(item);
    if (!isList(value) || value.some(lists)) this.#doubts("still lists the approval as pending");
  }

  #errorField(value: Json): void {
    const empty =
      value === null ||
      value === false ||
      value === 0 ||
      (isList(value) && value.length === 0) ||
      value === "";
    if (!empty) this.#error ??= "reports an error";
  }

  /** "resolved_at" or "denied_by": set or not. */
  #stamp(first: string, value: Json, about: About): void {
    const set = value !== null && value !== "" && value !== false && value !== 0;
    const real = set && !(typeof value === "string" && ZERO_TIME.test(value));
    if (real && first !== "pending" && FLAGS.has(first)) this.#word(first, about);
    else if (!real && first === "resolved") this.#hasText = true;
  }

  /** Some services send our reason back. */
  #text(value: Json): void {
    if (value !== null && value !== "" && value !== this.#sent.reason) this.#hasText = true;
  }

  #outcome(value: Json, about: About): void {
    if (value === null || value === "") return;
    if (typeof value === "string") return this.#word(value, about);
    if (typeof value === "boolean") return this.#flag("ok", value, about);
    if (!isRecord(value)) return this.#doubts("gives an outcome that is not a word");
    for (const [name, word] of Object.entries(value))
      if (WORD_NAMES.has(name) && typeof word === "string") this.#word(word, about);
    this.#inside(value, about);
  }

  #flag(name: string, value: Json, about: About): void {
    if (value === null) return;
    if (isRecord(value) || isList(value)) return this.#inside(value, about);
    const text = (isRawNumber(value) ? value.rawJSON : String(value)).trim().toLowerCase();
    if (text === "true" || text === "1") return this.#word(name, about);
    if (text !== "false" && text !== "0") return this.#doubts("answers yes or no with another word");
    if (this.#yes.has(name) || name === "accepted") this.#doubts("says that something was not done");
  }

  #word(value: string, about: About): void {
    const word = value.trim().toLowerCase();
    if (about === "run") {
      if (!RUN_GOES_ON.has(word)) this.#doubts("gives a state of the run that may mean anything");
    } else if (about === "approval" && this.#yes.has(word)) this.#saysYes = true;
    else if (about === "approval" && this.#no.has(word)) this.#contrary ??= word;
    else this.#doubts("does not say clearly what became of it");
  }

  #doubts(what: string): void {
    this.#doubt ??= what;
  }
}

function namedAbout(name: string, outer: About): About {
  if (name === "run") return "run";
  return name === "approval" || name === "approvals" ? "approval" : outer;
}

/** "isApproved", "is_approved" and "is-approved" are the same name. */
function partsOf(name: string): string[] {
  const spaced = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.split(/[^a-z0-9]+/).filter((part) => part !== "");
}
