import type { RichTextElement, RichTextSection } from "@slack/types";
import { isMissing, type Run, unreadableNow } from "../../../domain/run.ts";
import { denials, WHY_CHARS } from "../../../domain/render-key.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { line, moment, span, untrustedSpan } from "./rich.ts";

export type RunStatusName =
  | "starting"
  | "delayed"
  | "not-started"
  | "start-unknown"
  | "taken"
  | "missing"
  | "given-up"
  | "dropped"
  | "tampered"
  | "unusable"
  | "not-seen"
  | "queued"
  | "awaiting-approval"
  | "succeeded"
  | "failed"
  | "canceled"
  | "working";

/** `why`: the reason why the run has not started yet, in the words of the adapter or the service. */
type StatusWords = {
  readonly name: RunStatusName;
  readonly icon: string;
  readonly text: string;
  readonly why?: string;
};

/** `since`: the beginning of the state, or the end of the run (wall time). Null if we keep no wall time of it. */
export type RunStatus = StatusWords & { readonly since: number | null };

/** A run's state in a few words. They are the same in its thread, in lists and in answers, except while a decision is being delivered. */
export function runStatus(run: Run): RunStatus {
  const words = statusWords(run);
  return { ...words, since: sinceOf(run, words.name) };
}

function sinceOf({ seen, askedAt, unreadable }: Run, name: RunStatusName): number | null {
  switch (name) {
    case "not-started":
    case "start-unknown":
    case "taken":
    case "missing":
    case "given-up":
    case "dropped":
    case "tampered":
      return null;
    case "unusable":
      return unreadable?.since ?? null;
    default:
      return seen?.since ?? askedAt;
  }
}

function statusWords(run: Run): StatusWords {
  switch (run.creation.type) {
    case "planned":
      return run.creation.why === ""
        ? { name: "starting", icon: "⚪", text: "Starting" }
        : {
            name: "delayed",
            icon: "🟠",
            text: "Not started yet; retrying",
            why: run.creation.why,
          };
    case "sending":
      return { name: "starting", icon: "⚪", text: "Starting" };
    case "refused":
      return { name: "not-started", icon: "❌", text: "Not started" };
    case "unknown":
      return { name: "start-unknown", icon: "❓", text: "Start not confirmed" };
    case "taken":
      return { name: "taken", icon: "⚠️", text: "Started, but not watched here" };
    case "created":
      return watchedStatus(run);
  }
}

/** The status with its time, if there is one. A status that continues has "since" before the time. */
export function statusElements(
  { seen }: Run,
  { icon, text, since }: Pick<RunStatus, "icon" | "text" | "since">,
): RichTextElement[] {
  const words = span(`${icon} ${text}`, { bold: true });
  const isOngoing = (seen?.ended ?? null) === null;
  return since === null ? [words] : [words, span(isOngoing ? " since " : " "), moment(since)];
}

/**
 * How to describe a run that the service says has succeeded. If all its requests were denied, it "finished", because it did nothing that it
 * asked for. `denied` is for example "; 1 of 2 requests denied".
 */
export function successWords(run: Run): {
  readonly icon: string;
  readonly word: string;
  readonly denied: string;
} {
  const denied = denials(run);
  const all = run.approvals.length;
  if (denied === 0) return { icon: "✅", word: "Succeeded", denied: "" };
  if (denied < all) return { icon: "✅", word: "Succeeded", denied: `; ${denied} of ${all} requests denied` };
  const words = all === 1 ? "its request was denied" : `${all === 2 ? "both" : `all ${all}`} requests denied`;
  return { icon: "⛔", word: "Finished", denied: `; ${words}` };
}

function watchedStatus(run: Run): StatusWords {
  switch (run.watch.type) {
    case "missing":
      return isMissing(run)
        ? { name: "missing", icon: "❓", text: "The service no longer knows this run" }
        : statusAtService(run);
    case "given-up":
      return { name: "given-up", icon: "❓", text: "Given up: the service no longer knows this run" };
    case "dropped":
      return { name: "dropped", icon: "⚪", text: "No longer watched" };
    case "tampered":
      return {
        name: "tampered",
        icon: "🚨",
        text: "Stopped: this run's record was changed outside Countersign",
      };
    case "on":
    case "over":
      return unreadableNow(run)?.what === "answer"
        ? { name: "unusable", icon: "⚠️", text: "The service's answers cannot be used" }
        : statusAtService(run);
  }
}

function statusAtService(run: Run): StatusWords {
  const status = run.seen?.status;
  switch (status) {
    case undefined:
      return { name: "not-seen", icon: "⚪", text: "No news" };
    case "running":
      return { name: "working", icon: "🔵", text: "Running" };
    case "queued":
      return { name: "queued", icon: "⚪", text: "Queued" };
    case "awaiting_approval":
      return { name: "awaiting-approval", icon: "🟡", text: "Waiting for approval" };
    case "succeeded": {
      const { icon, word, denied } = successWords(run);
      return { name: "succeeded", icon, text: `${word}${denied}` };
    }
    case "failed":
      return { name: "failed", icon: "❌", text: "Failed" };
    case "canceled":
      return { name: "canceled", icon: "⏹️", text: "Canceled" };
    default:
      // The service does not document this state. We assume that the run is still working, and show the state's name.
      return { name: "working", icon: "🔵", text: `Working (${oneLine(status, 60)})` };
  }
}

/** The line below the status that says why the run has not started yet. */
export function whyLines({ why }: Pick<RunStatus, "why">): RichTextSection[] {
  return why === undefined ? [] : [line(untrustedSpan(oneLine(why, WHY_CHARS), WHY_CHARS))];
}
