// What was sent must have been decided. Each "sent" entry needs a "decided" entry of the same approval, request, verdict, reason
// and person, and a "voted" entry for each earlier approval that it names, none of them undone or settled before.

import { isList, isRecord, type Json } from "../json.ts";

type Entry = { readonly [field: string]: Json };

export type Pairs = {
  /** Takes entries in their order. False: this entry says that something was sent without a decision. */
  next(seq: number, entry: Entry): boolean;
};

export function createPairs(): Pairs {
  // For each approval: the votes and decisions that still stand, by entry number.
  const given = new Map<string, Map<number, Entry>>();
  return {
    next(seq, entry) {
      const { what, run, approval } = entry;
      if (typeof run !== "string" || typeof approval !== "string") return what !== "sent";
      const place = JSON.stringify([run, approval]);
      const words = given.get(place) ?? new Map<number, Entry>();
      if (what === "decided" || what === "voted") given.set(place, words.set(seq, entry));
      if (what === "sent") return isBorneOut(entry, words);
      if (what === "settled") settle(words, entry);
      if (what === "closed" || words.size === 0) given.delete(place);
      return true;
    },
  };
}

const FINAL: readonly (Json | undefined)[] = ["confirmed", "elsewhere", "unconfirmed"];

function settle(words: Map<number, Entry>, { outcome, refers }: Entry): void {
  if (typeof refers !== "number") return;
  if (typeof outcome === "string" && outcome.startsWith("void")) words.delete(refers);
  if (FINAL.includes(outcome)) for (const seq of words.keys()) if (seq <= refers) words.delete(seq);
}

const SAME = ["run", "runId", "approval", "digest", "verdict", "reason", "by"] as const;

function isBorneOut(sent: Entry, words: ReadonlyMap<number, Entry>): boolean {
  const decided = typeof sent["refers"] === "number" ? words.get(sent["refers"]) : undefined;
  if (decided?.["what"] !== "decided" || !SAME.every((name) => same(sent[name], decided[name]))) return false;
  const votes = sent["votes"] ?? [];
  return isList(votes) && votes.every((vote) => isRecord(vote) && isVote(vote, sent, words));
}

function isVote(vote: Entry, sent: Entry, words: ReadonlyMap<number, Entry>): boolean {
  const given = typeof vote["entry"] === "number" ? words.get(vote["entry"]) : undefined;
  if (given?.["verdict"] !== "approve" || !same(given["digest"], sent["digest"])) return false;
  return same(vote["by"], given["by"]) && same(vote["reason"], given["reason"]);
}

/** Both come from canonical JSON, so equal values have equal texts. */
const same = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
