// The reasons for refusing a command about runs. Those for refusing a decision are in authorization.ts.

import type { Refusal } from "./authorization.ts";
import type { Freeze } from "./freeze.ts";
import type { WrongField } from "./policy/saved-task.ts";
import type { Run } from "./run.ts";

/** The words for each are in `adapters/slack/blocks/command-refusal-words.ts`. */
export type CommandRefusal =
  | { readonly type: "empty-task" }
  | { readonly type: "guest" | "outsider" | "bot" | "deactivated" | "not-in-channel" }
  | { readonly type: "unverified" }
  /** The policy allows no runs in this channel, or not for this person. */
  | { readonly type: "no-runs-here" | "not-starter" }
  /**
   * The policy no longer has the saved task, has changed it since the form opened, or does not offer it to this person or in this channel.
   */
  | { readonly type: "saved-task-gone" | "saved-task-changed" | "not-your-task" }
  /** The labels of empty fields, the fields without a valid choice, and the names of fields that the saved task does not have. */
  | {
      readonly type: "saved-task-unfinished";
      readonly missing: readonly string[];
      readonly wrong: readonly WrongField[];
      readonly unknown: readonly string[];
    }
  /** No run starts while a freeze is in force here. */
  | { readonly type: "frozen"; readonly freeze: Freeze }
  | { readonly type: "not-freezer" | "already-frozen" | "not-frozen" }
  /** A different person must lift the freeze. */
  | { readonly type: "own-freeze"; readonly freeze: Freeze }
  /** The person did not say which of these to lift: one of this channel, and one that applies everywhere. */
  | { readonly type: "several-freezes"; readonly freezes: readonly Freeze[] }
  /** The freeze that the person named is not in force here, but this one is. */
  | { readonly type: "other-freeze"; readonly freeze: Freeze }
  /** The command came from a private channel that the app is not in. */
  | { readonly type: "hidden-channel" }
  /** The command came from a direct message, to the app or among people. */
  | { readonly type: "not-a-channel" }
  /** There is no such run, or this person may not know about it. `in`: it was looked up in the audit, which the person may read. */
  | { readonly type: "unknown-run"; readonly in?: "audit" }
  /** The run could not be looked up. `words` say why, and may quote the service. */
  | { readonly type: "service-silent"; readonly words: string }
  | { readonly type: "already-watched"; readonly run: Run }
  /** The run with this id has ended, and the service uses the id for another run. */
  | { readonly type: "id-used-again"; readonly run: Run }
  /** Someone changed the run's record, and the audit does not prove which channel the run belongs to. */
  | { readonly type: "channel-unproven" }
  | { readonly type: "not-watched"; readonly run: Run }
  | { readonly type: "deciding" | "voted" | "denial-due"; readonly run: Run }
  | { readonly type: "answered" }
  /** `run`: what the form has started: another task, or one in another channel. */
  | { readonly type: "form-used"; readonly run: Run }
  /** `run`: the run that was started again from this run, and is not over. */
  | { readonly type: "running-again"; readonly run: Run }
  /** This person may not read the audit. */
  | { readonly type: "not-auditor" | "own-audit" }
  /** The audit was tampered with, so it is not evidence. `words`: where and how. */
  | { readonly type: "tampered"; readonly words: string }
  /** For closing a dispute. */
  | { readonly type: "nothing-disputed" | "close-why" }
  /** `asked`: the command that only admins may use. */
  | { readonly type: "not-admin"; readonly asked: "close" | "acknowledge" | "report" }
  /** For an acknowledgement of tampering. */
  | { readonly type: "nothing-to-acknowledge" | "other-findings" | "acknowledge-why" }
  /** It was allowed, but Slack did not confirm the file. */
  | { readonly type: "not-sent" };

/** Every reason that a refusal is counted under. "unknown-command": a mention of the app that is not a command. */
export type RefusalReason = Refusal["type"] | CommandRefusal["type"] | "unknown-command";
