// How stops and freezes are drawn: the buttons and the thread message of a stop, and the line about a freeze on cards and in answers.

import type { Block, RichTextElement, RichTextSection } from "@slack/types";
import type { KeptEntry } from "../../../audit/entry.ts";
import type { Freeze } from "../../../domain/freeze.ts";
import { UNKNOWN_PERSON } from "../../../domain/ids.ts";
import {
  deniesAll,
  deniesNext,
  isMissing,
  isStoppable,
  isStopped,
  type Run,
  type Stop,
} from "../../../domain/run.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { RUN_LIFT, RUN_STOP } from "../names.ts";
import { partWithId, withId } from "./message-id.ts";
import {
  count,
  escaped,
  line,
  type Message,
  moment,
  person,
  plain,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";
import { deniedLines, type StopDrawing } from "./stop-words.ts";

const WHY_CHARS = 200;
const MAX_FREEZES = 3;

/** The Stop button, which asks for confirmation. Null if there is nothing to stop. */
export function stopButton(run: Run): object | null {
  if (!isStoppable(run) || deniesAll(run)) return null;
  const { follows, asks } = stopConsequence(run);
  return {
    type: "button",
    action_id: RUN_STOP,
    value: run.key,
    text: plain("Stop"),
    accessibility_label: `Stop run: ${follows}`,
    confirm: {
      title: plain("Stop this run?"),
      text: plain(asks),
      confirm: plain("Stop run"),
      deny: plain("Cancel"),
      style: "danger",
    },
  };
}

const ALL_DENIED = "everything it asks for is denied";
const NONE_APPROVED = "nothing it asks for is approved";
const CONFIRM =
  "The run itself keeps going, but everything it asks for is denied, now and later, until an approver lifts the stop. What was already approved and sent is not taken back.";
const CONFIRM_MISSING =
  "The service does not know this run now. If it knows the run again, nothing is approved until an approver lifts the stop. To deny everything then, press Stop again. What was already approved and sent is not taken back.";
const CONFIRM_UNSENT =
  "If its task is not sent yet, the run never starts. If the task is sent and the service confirms the run, everything it asks for is denied until an approver lifts the stop. If the service does not confirm it, this thread says what to do.";

/** What pressing Stop does. The question stays on screen while the run may be created, so its words are true before and after. */
function stopConsequence(run: Run): { readonly follows: string; readonly asks: string } {
  if (isMissing(run)) return { follows: NONE_APPROVED, asks: CONFIRM_MISSING };
  const isCreated = run.creation.type === "created";
  return isCreated
    ? { follows: ALL_DENIED, asks: CONFIRM }
    : {
        follows: "it never starts, or what it asks for is denied",
        asks: CONFIRM_UNSENT,
      };
}

const stopWords = (run: Run): string => (deniesNext(run) ? ALL_DENIED : NONE_APPROVED);

/** The id of a block with a Stop button: it names the newest stop, which the button's press must not repeat. */
export const idAfterStop = (id: string, { stop }: Run): string =>
  stop === undefined ? id : `${id}.${stop.at}`;

/** The Stop button in the run's opening. */
export function stopActions(run: Run): Block[] {
  const button = stopButton(run);
  return button === null
    ? []
    : [{ type: "actions", block_id: idAfterStop(`stop-${run.key}`, run), elements: [button] } as Block];
}

export function stoppedLine(run: Run): RichTextSection[] {
  const { stop } = run;
  if (stop === undefined || !isStopped(run)) return [];
  const meaning = isStoppable(run) ? `: ${stopWords(run)}.` : ".";
  return [line(span("🛑 Stopped", { bold: true }), span(" by "), person(stop.by), span(meaning))];
}

/** The thread's message about a stop, or about its end. */
export function stopMessage(run: Run, stop: Stop, drawing: StopDrawing): Message {
  const { by, at, lifted } = stop;
  const denied = deniedLines(run, drawing);
  const isRunning = isStoppable(run);
  if (lifted !== undefined)
    return withId("thread:stop-lifted", {
      text: "The stop is lifted. What the agent asks for now can be decided again.",
      blocks: [
        rich(
          line(
            span("🟢 Stop lifted", { bold: true }),
            span(" by "),
            person(lifted.by),
            span(" · "),
            moment(lifted.at),
          ),
          line(
            span("What the agent asks for now can be decided again. Stopped by "),
            person(by),
            span(", "),
            moment(at),
            span("."),
          ),
          ...denied,
        ),
      ],
    });
  return withId("thread:stopped", {
    text: isRunning ? `🛑 Run stopped: ${stopWords(run)}` : "🛑 Someone pressed Stop",
    blocks: [
      rich(stopLine(stop), ...(isRunning ? [line(span(meaningOf(run)))] : []), ...denied),
      ...(isRunning ? [liftActions(run)] : []),
    ],
  });
}

const stopLine = ({ by, at }: Stop): RichTextSection =>
  line(span("🛑 Run stopped", { bold: true }), span(" by "), person(by), span(" · "), moment(at));

function meaningOf(run: Run): string {
  if (isMissing(run)) return MEANING_WHILE_MISSING;
  return deniesAll(run) ? MEANING : MEANING_OF_EARLIER;
}

const MEANING =
  "The run itself keeps going, but everything it asks for is denied until an approver lifts the stop.";
const MEANING_WHILE_MISSING =
  "The service does not know this run now. If it finds the run again, nothing is approved until an approver lifts the stop, but requests are not denied automatically, because the service may have given the run's id to another run. To deny everything then, press Stop in this thread again.";
const MEANING_OF_EARLIER =
  "Nothing is approved until an approver lifts the stop, but requests are not denied automatically. To deny everything that this run asks for, press Stop in this thread. Why: the stop may have been meant for another run with the same id. Since then, this run was watched again, or the service forgot it and found it again. Or the stop was for a start, and the service answered with this run's id.";

function liftActions({ key, stop }: Run): Block {
  const button = {
    type: "button",
    action_id: RUN_LIFT,
    value: key,
    text: plain("Lift the stop"),
    confirm: {
      title: plain("Lift the stop?"),
      text: plain("New requests will wait for a decision again. Requests that were denied stay denied."),
      confirm: plain("Lift the stop"),
      deny: plain("Cancel"),
    },
  };
  return { type: "actions", block_id: `lift-${stop?.at ?? 0}-${key}`, elements: [button] } as Block;
}

/**
 * Returns the time of the newest stop when a Stop or "Lift the stop" button was drawn, from the id of its block. Null if the id names no stop,
 * because there was none, or because an earlier release drew the Stop button.
 */
export function stopShownIn(blockId: string | undefined): number | null {
  const [, lift, stop] = /^lift-(\d{1,15})-|^[\w-]+\.(\d{1,15})$/.exec(blockId ?? "") ?? [];
  const at = lift ?? stop;
  return at === undefined ? null : Number(at);
}

/** The block on an open card. */
export function brakeBlocks(run: Run): Block[] {
  const { stop, frozen } = run;
  const freeze = frozen === undefined ? [] : [freezeLine(frozen)];
  if (stop === undefined || !isStopped(run))
    return freeze.length === 0 ? [] : [partWithId("frozen", rich(...freeze, onlyDenyLine(run)))];
  return [partWithId("stopped", rich(stopLine(stop), ...freeze, onlyDenyLine(run)))];
}

const onlyDenyLine = (run: Run): RichTextSection =>
  line(span(`You can deny this. Nothing is approved before ${brakesAre(run)} lifted.`));

/** What must be lifted before anything can be approved, with its verb. */
export function brakesAre(run: Pick<Run, "stop" | "frozen">): string {
  if (!isStopped(run)) return "the freeze is";
  return run.frozen === undefined ? "the stop is" : "the stop and the freeze are";
}

/** The block above lists. */
export function frozenBlocks(freezes: readonly Freeze[]): Block[] {
  if (freezes.length === 0) return [];
  const shown = freezes.slice(0, MAX_FREEZES).map(freezeLine);
  const more = freezes.length - shown.length;
  const rest =
    more === 0
      ? []
      : [line(span(`${count(more)} more ${more === 1 ? "channel is" : "channels are"} frozen.`))];
  return [
    rich(
      ...shown,
      ...rest,
      line(span("No run starts there, and nothing can be approved. Requests can still be denied.")),
    ),
  ];
}

function freezeLine({ by, channel, at, why, entry }: Freeze): RichTextSection {
  if (by === UNKNOWN_PERSON)
    return line(span("🧊 Frozen", { bold: true }), span(` everywhere, ${unprovenWords(entry)}.`));
  return line(
    span("🧊 Frozen", { bold: true }),
    ...(channel === null
      ? [span(" everywhere by ")]
      : [span(": "), { type: "channel", channel_id: channel } as const, span(" by ")]),
    person(by),
    span(" · "),
    moment(at),
    ...(why === "" ? [] : [span(": "), untrustedSpan(why.replace(/\s+/g, " "), WHY_CHARS)]),
  );
}

/** The notification for the admins, the audit channel and the frozen channel. */
export function freezeNotification({ entry }: KeptEntry, command: string): Message {
  const { what, by, channel, at, reason } = entry;
  const frozen = what === "frozen";
  const where = channel === null ? "every channel" : `<#${channel}>`;
  const title = frozen ? "🧊 Countersign is frozen" : "🟢 The freeze is lifted";
  const who = by === null ? span("Someone") : person(by.user);
  const place: RichTextElement[] =
    channel === null ? [span("every channel")] : [{ type: "channel", channel_id: channel }];
  const meaning = frozen
    ? `No run starts and no approval is sent. Requests can still be denied. Someone else who is allowed to freeze can lift it${channel === null ? "" : " there"}: `
    : "Unless another freeze holds there, runs start again, and requests can be approved again. An approval that the freeze stopped must be given again.";
  return {
    text: `${title}: ${where}`,
    blocks: [
      rich(
        line(span(title, { bold: true }), span(": "), ...place, span(" · "), who, span(" · "), moment(at)),
        ...(reason === null || reason === "" ? [] : [quote(untrustedSpan(reason, WHY_CHARS))]),
        line(
          span(meaning),
          ...(frozen
            ? [span(`${command} freeze lift ${channel === null ? "everywhere" : "here"}`, { code: true })]
            : []),
        ),
      ),
    ],
  };
}

/** Says who froze what, in Slack's markup, for an answer or a refusal. */
export function freezeWords({ by, channel, at, why, entry }: Freeze): string {
  if (by === UNKNOWN_PERSON) return `Everything counts as frozen, ${unprovenWords(entry)}`;
  const where = channel === null ? "everything" : `<#${channel}>`;
  const when = `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} at {time}|${new Date(at).toISOString()}>`;
  return `<@${by}> froze ${where}, ${when}${why === "" ? "" : `: ${escaped(oneLine(why, WHY_CHARS))}`}`;
}

const unprovenWords = (entry: number): string =>
  `because audit entry ${entry}, which says what is frozen, cannot be verified or read`;
