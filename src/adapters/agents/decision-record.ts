// Reads what the answer to a decision says about its outcome, in any field and however deeply nested. The service documents neither
// the words of an approval's status nor an envelope, so every word that is not known to mean yes counts as a doubt.

import type { Verdict } from "../../domain/approval.ts";
import type { Json } from "../../domain/json.ts";
import { isList, isRawNumber, isRecord, isSameJson, type JsonRecord } from "../../domain/json.ts";
import { recordIn } from "../../domain/listed-item.ts";
import {
  CONTEXT_NAMES,
  ERROR_NAMES,
  FLAGS,
  idOf,
  idsNamed,
  isListOfPending,
  isNothing,
  NEUTRAL_NAMES,
  OUTCOME_NAMES,
  partsOf,
  RUN_GOES_ON,
  TAKEN_IN,
  TEXT_NAMES,
  WORD_NAMES,
  wordsFor,
} from "./decision-words.ts";
import { isAnotherRequest } from "./described-request.ts";
import { approvalIdIn } from "./pending-approvals.ts";

export type SentDecision = {
  readonly run: string;
  readonly approval: string;
  readonly verdict: Verdict;
  /** The service's word for deny. */
  readonly denyWord: string;
  readonly reason: string;
  /** What the service had listed about the approval. An answer that only repeats it says nothing new. */
  readonly asked: Json;
  /** The fields of `asked` that may change without notice, by name or path. */
  readonly volatile?: readonly string[];
};

/** Errors and doubts are our own words. They complete the sentence "..., but it ". */
export type RecordSays = {
  readonly error: string | null;
  /** The service's word for another outcome than ours. */
  readonly contrary: string | null;
  readonly doubt: string | null;
};

/** The maximum number of values. No honest answer has more. */
const MAX_VALUES = 20_000;
/** Longer texts are not searched for words. */
const MAX_TEXT_CHARS = 100_000;
/** Go's format of an unset time. */
const ZERO_TIME = /^0001-01-01T/;
const TIME = /^\d{4}-\d\d-\d\d([T ][\d:.]+([+-][\d:]+|Z)?)?$/i;

/** What a record describes: the approval, the run, or something with another id. */
type About = "approval" | "run" | "other";

export function readRecord(record: JsonRecord, sent: SentDecision): RecordSays {
  const reader = new RecordReader(sent);
  reader.about("approval", record);
  return reader.says();
}

class RecordReader {
  readonly #sent: SentDecision;
  readonly #words: ReturnType<typeof wordsFor>;
  readonly #asked: JsonRecord;
  #left = MAX_VALUES;
  #error: string | null = null;
  #contrary: string | null = null;
  #doubt: string | null = null;
  #saysYes = false;
  #runGoesOn = false;
  #hasText = false;
  #hasUnknown = false;

  constructor(sent: SentDecision) {
    this.#sent = sent;
    this.#words = wordsFor(sent.verdict, sent.denyWord.toLowerCase());
    this.#asked = isRecord(sent.asked) ? recordIn(sent.asked) : {};
  }

  says(): RecordSays {
    const text = this.#hasText && !this.#saysYes ? "says in a text what became of it" : null;
    const unknown =
      this.#hasUnknown && !this.#saysYes && !this.#runGoesOn
        ? "says something that Countersign does not know"
        : null;
    return { error: this.#error, contrary: this.#contrary, doubt: this.#doubt ?? text ?? unknown };
  }

  /** A record in the place of the approval must not be about another approval. */
  about(expected: About, record: JsonRecord): void {
    const about = this.#aboutOf(record, expected);
    if (expected === "approval" && about === "other") this.#doubts("tells of another approval");
    if (about === "approval" && isAnotherRequest(record, this.#sent, this.#words))
      this.#doubts("describes another request");
    this.#record(record, about);
  }

  #aboutOf(record: JsonRecord, outer: About): About {
    const { approval, run } = this.#sent;
    const [ids, named] = [idsNamed(record, "id"), idsNamed(record, "approval_id")];
    if (named.some((id) => id !== approval)) return "other";
    if (ids.length === 0) return named.length > 0 ? "approval" : outer;
    if (ids.every((id) => id === approval)) return "approval";
    return ids.every((id) => id === run) ? "run" : "other";
  }

  #record(record: JsonRecord, about: About): void {
    if (idsNamed(record, "run_id").some((id) => id !== this.#sent.run)) this.#doubts("tells of another run");
    for (const [name, value] of Object.entries(record)) this.#field(name, value, about);
  }

  #field(name: string, value: Json, about: About): void {
    if (this.#isTooLong()) return;
    const parts = partsOf(name);
    const [first = "", last = ""] = [parts[0], parts.at(-1)];
    if (parts.some((part) => ERROR_NAMES.has(part))) return this.#errorField(value);
    if (CONTEXT_NAMES.has(last)) return this.#context(name, value);
    if (isListOfPending(parts, value)) return this.#pendingApprovals(value);
    if (last === "at" || last === "by") return this.#stamp(first, value, about);
    const isScalar = !isRecord(value) && !isList(value);
    if (isScalar && name === "run") return this.#runNamed(value);
    if (isScalar && name === "approval" && idOf(value) === this.#sent.approval) return;
    if (isScalar && TEXT_NAMES.has(last)) return this.#text(value);
    if (name === "approval" && isScalar) return this.#outcome(value, about);
    if (parts.some((part) => OUTCOME_NAMES.has(part))) return this.#outcome(value, about);
    if (FLAGS.has(last)) return this.#flag(parts.includes("not") ? name : last, value, about);
    if (Object.hasOwn(this.#asked, name) && isSameJson(this.#asked[name] ?? null, value)) return;
    this.#inside(value, last, namedAbout(last, about));
  }

  /** Handles the request and its context, quoted back. A field that contains only a contrary word may still be the answer. */
  #context(name: string, value: Json): void {
    if (isSameJson(this.#asked[name] ?? null, value)) return;
    if (typeof value === "string") this.#contextWord(value);
    else this.#inContext(value);
  }

  /** Handles, at any depth, the fields that have the name of an outcome. */
  #inContext(value: Json): void {
    if (this.#isTooLong()) return;
    if (isList(value)) for (const item of value) this.#inContext(item);
    if (!isRecord(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      const named = partsOf(name).some((part) => OUTCOME_NAMES.has(part));
      if (named && typeof inner === "string") this.#contextWord(inner);
      else this.#inContext(inner);
    }
  }

  #contextWord(text: string): void {
    if (this.#words.no.has(text.trim().toLowerCase())) this.#doubts("holds a word that may say no");
  }

  /** Handles records and lists inside a record. If a list names our approval, its other records are about other approvals. */
  #inside(value: Json, name: string, about: About): void {
    if (isRecord(value)) {
      const namesOurs = this.#aboutOf(value, "other") === "approval";
      if (name === "approval" || namesOurs) return this.about("approval", value);
      return this.#record(value, this.#aboutOf(value, about));
    }
    if (!isList(value)) return this.#other(name, value, about);
    const ours = value.filter((item) => isRecord(item) && approvalIdIn(item) === this.#sent.approval);
    for (const item of ours.length > 0 ? ours : value) {
      if (this.#isTooLong()) return;
      this.#inside(item, name === "approval" ? "approvals" : name, about);
    }
  }

  #isTooLong(): boolean {
    this.#left -= 1;
    if (this.#left < 0) this.#doubts("is too long to be judged");
    return this.#left < 0;
  }

  #pendingApprovals(value: Json): void {
    const { approval } = this.#sent;
    const lists = (item: Json): boolean => {
      if (item === null) return false;
      const id = isList(item) ? null : approvalIdIn(item);
      return id === null || id === approval;
    };
    if (!isList(value) || value.some(lists)) this.#doubts("still lists the approval as pending");
  }

  #errorField(value: Json): void {
    const empty = isNothing(value) || (isList(value) && value.length === 0);
    if (!empty) this.#error ??= "reports an error";
  }

  /** Handles fields such as "resolved_at" or "denied_by", which are set or not. */
  #stamp(first: string, value: Json, about: About): void {
    const real = !isNothing(value) && !(typeof value === "string" && ZERO_TIME.test(value));
    if (real && first !== "pending" && FLAGS.has(first)) this.#word(first, about);
    else if (!real && first === "resolved") this.#hasText = true;
  }

  #runNamed(value: Json): void {
    if (value !== null && idOf(value) !== this.#sent.run) this.#doubts("tells of another run");
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
    const others = Object.entries(value).filter(([name, word]) => {
      const isWord = WORD_NAMES.has(name) && typeof word === "string";
      if (isWord) this.#word(word, about);
      return !isWord;
    });
    this.#inside(Object.fromEntries(others), "", about);
  }

  #flag(name: string, value: Json, about: About): void {
    if (value === null) return;
    if (isRecord(value) || isList(value)) return this.#inside(value, name, about);
    const text = (isRawNumber(value) ? value.rawJSON : String(value)).trim().toLowerCase();
    const isNo = text === "false" || text === "0";
    if (TAKEN_IN.has(name)) {
      if (!isNo && (text === "true" || Number(text) > 0 || TIME.test(text))) return;
    } else if (text === "true" || text === "1") return this.#word(name, about);
    if (!isNo) return this.#doubts("answers yes or no with another word");
    if (this.#words.yes.has(name) || TAKEN_IN.has(name) || name === "accepted")
      this.#doubts("says that something was not done");
  }

  /** Handles a field whose name, as far as we know, says nothing about the outcome. */
  #other(name: string, value: Json, about: About): void {
    if (value === null || value === "") return;
    if (typeof value !== "string") {
      if (typeof value === "boolean" || !NEUTRAL_NAMES.has(name))
        this.#doubts("says something that Countersign does not know");
      return;
    }
    const word = value.trim().toLowerCase();
    // Fields of the run contain whole texts, such as its title.
    const whole = NEUTRAL_NAMES.has(name) || about === "run";
    if (whole ? this.#words.bad.has(word) : this.#holdsBadWord(word))
      return this.#doubts("does not say clearly what became of it");
    if (!NEUTRAL_NAMES.has(name) && !TIME.test(value)) this.#hasUnknown = true;
  }

  #holdsBadWord(text: string): boolean {
    if (text.length > MAX_TEXT_CHARS) return true;
    return text.split(/[^\p{L}\p{N}]+/u).some((word) => this.#words.bad.has(word));
  }

  #word(value: string, about: About): void {
    const word = value.trim().toLowerCase();
    if (about === "run") {
      if (RUN_GOES_ON.has(word)) this.#runGoesOn = true;
      else this.#doubts("gives a state of the run that may mean anything");
    } else if (about === "approval" && this.#words.yes.has(word)) this.#saysYes = true;
    else if (about === "approval" && this.#words.no.has(word)) this.#contrary ??= word;
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
