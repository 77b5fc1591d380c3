import { isMissing, type Run, unreadableNow } from "../../../domain/run.ts";
import { denials } from "../../../domain/render-key.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";

export type RunStatus = { readonly icon: string; readonly text: string };

/** A run's state in a few words, the same in its thread, in lists and in answers. */
export function runStatus(run: Run): RunStatus {
  switch (run.creation.type) {
    case "planned":
      return run.creation.why === ""
        ? { icon: "⚪", text: "Starting" }
        : { icon: "🟠", text: `Not started yet (${oneLine(run.creation.why, 200)}), trying again` };
    case "sending":
      return { icon: "⚪", text: "Starting" };
    case "refused":
      return { icon: "❌", text: "Not started" };
    case "unknown":
      return { icon: "❔", text: "Not known whether it started" };
    case "taken":
      return { icon: "⚠️", text: "Started, not followed here" };
    case "created":
      return watched(run);
  }
}

/** Whether the status lasts, so that it reads "since" a moment; an end is a moment itself. */
export function stays({ seen, creation }: Run): boolean {
  return (seen?.ended ?? null) === null && creation.type !== "refused";
}

/** ", 1 request denied"; empty if none was. */
export function deniedWords(run: Run): string {
  const denied = denials(run);
  return denied === 0 ? "" : `, ${denied} ${denied === 1 ? "request" : "requests"} denied`;
}

function watched(run: Run): RunStatus {
  switch (run.watch.type) {
    case "missing":
      return isMissing(run) ? { icon: "❔", text: "Not known to the service any more" } : atService(run);
    case "given-up":
      return { icon: "❔", text: "Given up: the service does not know it" };
    case "dropped":
      return { icon: "⚪", text: "No longer watched" };
    case "tampered":
      return { icon: "🚨", text: "Stopped: its record was changed outside Countersign" };
    case "on":
    case "over":
      return unreadableNow(run)?.what === "answer"
        ? { icon: "⚠️", text: "The service's answers cannot be used" }
        : atService(run);
  }
}

function atService(run: Run): RunStatus {
  const status = run.seen?.status;
  switch (status) {
    case undefined:
      return { icon: "⚪", text: "Not seen yet" };
    case "queued":
      return { icon: "⚪", text: "Queued" };
    case "awaiting_approval":
      return { icon: "🟡", text: "Waiting for approval" };
    case "succeeded":
      return { icon: "✅", text: `Succeeded${deniedWords(run)}` };
    case "failed":
      return { icon: "❌", text: "Failed" };
    case "canceled":
      return { icon: "⏹️", text: "Canceled" };
    default:
      // INTERFACE.md does not name this state: we take it as still working, and show its name.
      return { icon: "🔵", text: `Working (${oneLine(status, 60)})` };
  }
}
