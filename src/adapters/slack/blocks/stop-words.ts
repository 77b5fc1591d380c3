// What the thread's message about a stop says of the requests: how many requests the stop denies, and which, and
// which approvals were sent before it. A denial is called one only once the service has confirmed it.

import type { RichTextSection } from "@slack/types";
import { cardOf, deniesNext, isStoppable, isStopped, type Run } from "../../../domain/run.ts";
import {
  deniedByStop,
  type DenialByStop,
  type DenialFate,
  namedByStop,
  type NotStopped,
  notStopped,
  type SentFate,
} from "../../../domain/stop-report.ts";
import { askedIn } from "../../../domain/text/headline.ts";
import { COMMAND } from "./receipts.ts";
import type { Deployment } from "./deployment.ts";
import { cardLink, count, line, type Links, plural, span, untrustedSpan } from "./rich.ts";

const ASKED_CHARS = 110;

export type StopDrawing = { readonly deployment: Deployment; readonly links: Links };

/** Says nothing of a run whose record was tampered with, because its decisions are not believed. */
export function deniedLines(run: Run, { deployment, links }: StopDrawing): RichTextSection[] {
  if (run.watch.type === "tampered") return [];
  const command = deployment.command ?? COMMAND;
  const sent = notStopped(run);
  return [
    ...countedWords(run).map((words) => line(span(words))),
    ...namedLines(run, namedByStop(run), command, links),
    ...notStoppedWords(sent).map((words) => line(span(words))),
    ...namedLines(run, sent, command, links),
  ];
}

function countedWords(run: Run): string[] {
  const { denied, refused, expired } = deniedByStop(run);
  if (denied + refused + expired === 0) {
    if (isStopped(run) && !deniesNext(run)) return [];
    // The message may be older than the newest denial, because Slack takes few updates. So it does not say that there is none yet.
    return [
      isStopped(run) && isStoppable(run)
        ? "The requests that it denies will be named here."
        : "This stop did not deny any request.",
    ];
  }
  return [...(denied === 0 ? [] : [orderedWords(run)]), ...refusedWords(refused), ...expiredWords(expired)];
}

function orderedWords(run: Run): string {
  const { denied, confirmed, notConfirmed } = deniedByStop(run);
  if (confirmed === denied)
    return `Denied by this stop: ${count(denied)} ${plural(denied, "request")}, confirmed by the service.`;
  const soFar = confirmed + notConfirmed < denied ? " so far" : "";
  const rest =
    notConfirmed === 0
      ? ""
      : `, and did not confirm ${count(notConfirmed)}. Look ${plural(notConfirmed, "it", "them")} up in the agent service`;
  return `This stop denies ${count(denied)} ${plural(denied, "request")}. The service has confirmed ${count(confirmed)}${soFar}${rest}.`;
}

/** A stop does not deny a request again and again (`onlyPeopleMayDeny`). */
function refusedWords(refused: number): string[] {
  if (refused === 0) return [];
  return [
    refused === 1
      ? "1 request still waits, because the service did not accept its denial: decide it on its card."
      : `${count(refused)} requests still wait, because the service did not accept their denials: decide them on their cards.`,
  ];
}

function expiredWords(expired: number): string[] {
  if (expired === 0) return [];
  return [
    expired === 1
      ? "1 expired request was not denied, because the service did not accept its denial. If it is still pending there, decide it at the service."
      : `${count(expired)} expired requests were not denied, because the service did not accept their denials. If they are still pending there, decide them at the service.`,
  ];
}

function notStoppedWords({ named, more }: ReturnType<typeof notStopped>): string[] {
  const all = named.length + more;
  if (all === 0) return [];
  const sent = `Too late to stop: ${count(all)} ${plural(all, "approval")} ${plural(all, "was", "were")} already sent`;
  // Those that are not confirmed come first, so `named` has one if there is one.
  if (named.every(({ fate }) => fate === "sent-confirmed"))
    return [`${sent}, and the service confirmed ${plural(all, "it", "them")}.`];
  return [
    `${sent}. ${plural(all, "It", "Those not confirmed")} may have taken effect: look ${plural(all, "it", "them")} up in the agent service.`,
  ];
}

/** Our words come first, so that no request can pass for one with another fate. */
const FATES: { readonly [fate in DenialFate | SentFate]: string } = {
  "under-way": "Not confirmed yet",
  confirmed: "Denied",
  "not-confirmed": "Never confirmed",
  refused: "Still waits",
  expired: "Not denied",
  sent: "Approved, not confirmed yet",
  "sent-unconfirmed": "Approved, never confirmed",
  "sent-confirmed": "Approved, confirmed",
};

type Named = { readonly named: readonly (DenialByStop | NotStopped)[]; readonly more: number };

function namedLines(run: Run, { named, more }: Named, command: string, links: Links): RichTextSection[] {
  const lines = named.map(({ approval, fate }) =>
    line(
      span(`• ${FATES[fate]}: `),
      untrustedSpan(askedIn(approval.request, ASKED_CHARS), ASKED_CHARS, { bold: true }),
      ...cardLink(cardOf(run, approval), links),
    ),
  );
  if (more === 0) return lines;
  const where = "The audit has an entry for each: admins and auditors get it with ";
  return [
    ...lines,
    line(
      span(`… and ${count(more)} more. ${where}`),
      span(`${command} audit <run id>`, { code: true }),
      span("."),
    ),
  ];
}
