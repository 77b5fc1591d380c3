// Each call that a life makes to the service and to Slack, and when in the life the fault is set up.

import type { FaultCase } from "./play-life.ts";
import { KINDS, type KindName, type When } from "./wire-kinds.ts";

/** The fault hits the first such call after people did `from`. */
export type Call = Omit<FaultCase, "name"> & {
  /** A route of the service, a method of Slack's Web API, or another call as the sandbox's traffic names it. */
  readonly call: string;
  readonly of: "service" | "slack";
  /** Which such call the fault hits instead. */
  readonly nth?: number;
  /** Which `chat.postMessage` takes effect without an answer. The bot then makes the call to find the message. */
  readonly lost?: number;
  /** Whether the fault hits every such call until the form's submit is acknowledged, and for this long after it (ms). */
  readonly pastSubmitMs?: number;
};

const HUGE = { task: "huge report" };
const HOME = { task: "two approvals for the release", together: true };
/** Longer than SUBMIT_AGE_MS (engine/fresh-facts.ts), so that the submit asks Slack again. */
const READING = { readsMs: 5_500 };
/** wire-policy.yaml lets the members of this channel decide. */
const RULED = { task: "deploy billing by the group", joins: "C0RANDOM", ...READING };

export const CALLS: readonly Call[] = [
  { call: "create-run", of: "service", from: "command" },
  { call: "read-run", of: "service", from: "command" },
  // Polls come between the submit and the look before the decision, so only a fault on all of them surely hits that look.
  { call: "read-run", of: "service", from: "submit", pastSubmitMs: 1_000 },
  { call: "decide", of: "service", from: "submit" },
  { call: "users.info", of: "slack", from: "command" },
  { call: "users.info", of: "slack", from: "submit", ...READING },
  { call: "users.conversations", of: "slack", from: "submit", ...RULED },
  { call: "usergroups.users.list", of: "slack", from: "submit", ...RULED },
  { call: "conversations.info", of: "slack", from: "command" },
  { call: "conversations.members", of: "slack", from: "command" },
  { call: "conversations.history", of: "slack", from: "command", lost: 1 },
  { call: "conversations.replies", of: "slack", from: "command", lost: 2 },
  { call: "chat.postMessage", of: "slack", from: "command" },
  // The card.
  { call: "chat.postMessage", of: "slack", from: "command", nth: 2 },
  { call: "chat.postMessage", of: "slack", from: "submit" },
  { call: "chat.update", of: "slack", from: "command" },
  { call: "chat.update", of: "slack", from: "submit" },
  // Only the process that got the click can answer it so, and of several another may own the run.
  { call: "response_url", of: "slack", from: "click", alone: true },
  { call: "views.open", of: "slack", from: "click" },
  { call: "views.publish", of: "slack", from: "click", ...HOME },
  { call: "files.getUploadURLExternal", of: "slack", from: "command", ...HUGE },
  { call: "file upload", of: "slack", from: "command", ...HUGE },
  { call: "files.completeUploadExternal", of: "slack", from: "command", ...HUGE },
];

/** Calls that have no case, each with the reason. */
export const LEFT_OUT: { readonly [call: string]: string } = {
  health: "made only by the command for the state and by the doctor: test/journeys/health.test.ts",
  "auth.test": "made at a start, and while Slack is silent: test/adapters/slack/reach-slack.test.ts",
  "bots.info": "made only at a start: test/cli/planted-slack-faults.ts",
  "users.list": "made only for a crowd: test/adapters/slack/crowd.test.ts",
  "chat.delete": "made only if a message is there twice: the simulator (test/simulation/slack-ports.ts)",
  "chat.getPermalink": "the message then has no link: test/adapters/slack/chat.test.ts",
  "chat.postEphemeral": "made only if Slack refuses a direct message: test/adapters/slack/chat.test.ts",
  "views.update": "made only for a choice in an open window: test/adapters/slack/form-answers.test.ts",
};

/** Cases that are left out because the answer has another meaning, by call, kind and when. */
const NOT_A_FAULT: { readonly [name: string]: string } = {
  "decide empty before": "an empty 2xx is the service's yes",
  "file upload 4xx before": "a 400 refuses the bytes for good, and the outcome says where the output is",
};

export type WireCase = Call & FaultCase & { readonly kind: KindName; readonly when: When };

export const WIRE_CASES: readonly WireCase[] = CALLS.flatMap((call) =>
  (Object.keys(KINDS) as KindName[]).flatMap((kind) =>
    KINDS[kind].whens
      .filter((when) => !Object.hasOwn(NOT_A_FAULT, `${call.call} ${kind} ${when}`))
      .map((when) => ({ ...call, kind, when, name: `${kind} ${when} ${nameOf(call)}` })),
  ),
);

function nameOf({ call, from, nth, lost }: Call): string {
  const which = nth === undefined ? call : `${call} ${nth}`;
  const cause = lost === undefined ? "" : `, with the answer to chat.postMessage ${lost} lost`;
  return `${which}, from the ${from} on${cause}`;
}
