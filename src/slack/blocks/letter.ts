// Letters of the audit: what they say, and the receipt's button.

import type { Block } from "@slack/types";
import { headWords } from "../../core/audit-chain.ts";
import { oneLine } from "../../core/excerpt.ts";
import type { KeptEntry } from "../../flow/audit-entry.ts";
import type { Letter, LetterFacts } from "../../flow/letter.ts";
import { RECEIPT_NOT_ME } from "../names.ts";
import {
  escaped,
  header,
  line,
  type Message,
  moment,
  note,
  person,
  quote,
  rich,
  said,
  words,
} from "./rich.ts";

const ACTION_CHARS = 300;
const REASON_CHARS = 500;
const FINDING_CHARS = 1_500;

export function drawnLetter({ id, kind }: Letter, facts: LetterFacts): Message {
  switch (kind) {
    case "receipt":
      return receipt(id, facts);
    case "dispute":
      return dispute(facts);
    case "redaction":
      return redaction(facts.entry);
    case "head":
      return head(facts.entry);
    case "tampering":
      return tampering(facts.entry);
  }
}

function receipt(id: string, facts: LetterFacts): Message {
  const { entry } = facts.entry;
  const title = entry.verdict === "deny" ? "You denied this" : "You approved this";
  const button = {
    type: "button",
    action_id: RECEIPT_NOT_ME,
    value: id,
    style: "danger",
    text: { type: "plain_text", text: "This was not me", emoji: false },
  };
  const blocks: Block[] = [
    rich(
      line(words(`${title}, `, { bold: true }), moment(entry.at), ...placeOf(facts)),
      quote(said(oneLine(actionOf(facts), ACTION_CHARS), ACTION_CHARS)),
      ...reasonOf(facts.entry),
      line(words("If somebody else did it in your name, press the button: the admins are told at once.")),
    ),
    { type: "actions", block_id: `receipt-${id}`, elements: [button] } as Block,
    note(smallPrint(facts.entry)),
  ];
  return { text: escaped(`${title}: ${oneLine(actionOf(facts), ACTION_CHARS)}`), blocks };
}

function dispute(facts: LetterFacts): Message {
  const about = facts.about ?? facts.entry;
  const { entry } = about;
  const by = entry.by === null ? words("Somebody") : person(entry.by.user);
  const verb = entry.verdict === "deny" ? "denied" : "approved";
  const title = "🚨 «This was not me»";
  const blocks: Block[] = [
    header(title),
    rich(
      line(
        by,
        words(` says that a decision in their name was not theirs. It ${verb}, `),
        moment(entry.at),
        ...placeOf(facts),
        words(":"),
      ),
      quote(said(oneLine(actionOf(facts), ACTION_CHARS), ACTION_CHARS)),
      ...reasonOf(about),
      line(
        words("Countersign takes no decision back by itself, and it may be with the service already. ", {
          bold: true,
        }),
        words("An approval whose card still offers Deny is stopped by denying it there. "),
        words("Stop or undo there what followed from it. End this person's Slack sessions. "),
        words(`npm run audit -- show ${oneLine(entry.runId ?? entry.run ?? "", 120)}`, { code: true }),
        words(" tells all about this run, and "),
        words("npm run audit -- export", { code: true }),
        words(" what else was decided in their name."),
      ),
    ),
    note(`${headWords(facts.entry)} marks entry ${about.seq}`),
  ];
  return { text: escaped(`${title}: ${oneLine(actionOf(facts), ACTION_CHARS)}`), blocks };
}

/** Our own words and numbers: nothing of what was found there is repeated. */
function tampering({ seq, link, entry }: KeptEntry): Message {
  const title = "🚨 The database was changed outside Countersign";
  const blocks: Block[] = [
    header(title),
    rich(
      quote(said(oneLine(entry.outcome, FINDING_CHARS), FINDING_CHARS)),
      line(
        words("No approval leaves until an admin acknowledges this. ", { bold: true }),
        words("Denials are still sent. What was changed is not used."),
      ),
      line(
        words("Find out who writes the database. "),
        words("npm run audit -- verify", { code: true }),
        words(
          " tells what is not as it was written; compare it with a backup and with the heads in this channel.",
        ),
      ),
      line(
        words("Then acknowledge it: "),
        words("/agent health", { code: true }),
        words(" shows the code, and "),
        words("/agent audit acknowledge <code> <what you found>", { code: true }),
        words(" lets approvals leave again. That is an entry of the audit in your name."),
      ),
    ),
    note(headWords({ seq, link })),
  ];
  return { text: title, blocks };
}

/** The text itself is gone; its digest names it in the audit. */
function redaction(kept: KeptEntry): Message {
  const { at, digest, outcome } = kept.entry;
  const title = "A text of the audit was erased";
  const blocks: Block[] = [
    rich(
      line(words(`${title}, `, { bold: true }), moment(at), words(`, ${oneLine(outcome, REASON_CHARS)}.`)),
      ...reasonOf(kept),
      line(words("Its digest, by which the audit still names it: "), words(digest ?? "", { code: true })),
      line(words("If none of you ordered that, find out who has the audit's key.")),
    ),
    note(headWords(kept)),
  ];
  return { text: title, blocks };
}

function head(kept: KeptEntry): Message {
  const words_ = headWords(kept);
  return {
    text: `The audit's head: ${words_}`,
    blocks: [
      rich(
        line(words("The audit's head: ", { bold: true }), words(words_, { code: true })),
        line(
          words("Kept here, it proves later that nothing before it was changed or cut off: "),
          words(`npm run audit -- verify --head "${words_}"`, { code: true }),
        ),
      ),
    ],
  };
}

const actionOf = ({ action }: LetterFacts): string => action ?? "(the service did not say what)";

function placeOf({ channel, entry, about }: LetterFacts) {
  const { runId } = (about ?? entry).entry;
  return [
    ...(channel === null ? [] : [words(" in "), { type: "channel" as const, channel_id: channel }]),
    ...(runId === null ? [] : [words(" · "), said(runId, 120, { code: true })]),
  ];
}

function reasonOf({ entry }: KeptEntry) {
  if (entry.reason === null || entry.reason === "") return [];
  return [line(words("Reason: "), said(oneLine(entry.reason, REASON_CHARS), REASON_CHARS))];
}

function smallPrint({ seq, link, entry }: KeptEntry): string {
  const request = entry.digest === null ? [] : [`request ${entry.digest.slice(0, 12)}`];
  const rule = entry.policy === null ? [] : [`rule ${oneLine(entry.policy.rule, 80)}`];
  return [headWords({ seq, link }), ...request, ...rule].join(" · ");
}
