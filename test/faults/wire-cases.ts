// Each call that a life makes of the service and of Slack, and when in the life the fault is laid.

import type { Disturbed } from "./play-life.ts";
import { KINDS, type KindName, type When } from "./wire-kinds.ts";

/** The fault strikes the first such call after people did `from`. */
type Call = Omit<Disturbed, "name"> & {
  /** A route of the service, or a method of Slack's Web API. */
  readonly call: string;
  readonly of: "service" | "slack";
};

const HUGE = "huge report";

const CALLS: readonly Call[] = [
  { call: "create-run", of: "service", from: "command" },
  { call: "read-run", of: "service", from: "command" },
  { call: "read-run", of: "service", from: "submit" },
  { call: "decide", of: "service", from: "submit" },
  { call: "users.info", of: "slack", from: "command" },
  { call: "conversations.info", of: "slack", from: "command" },
  { call: "chat.postMessage", of: "slack", from: "command" },
  { call: "chat.update", of: "slack", from: "command" },
  { call: "views.open", of: "slack", from: "click" },
  { call: "chat.update", of: "slack", from: "submit" },
  { call: "chat.postMessage", of: "slack", from: "submit" },
  { call: "files.getUploadURLExternal", of: "slack", from: "command", task: HUGE },
  { call: "files.completeUploadExternal", of: "slack", from: "command", task: HUGE },
];

/** Left out, because the interface takes them for something else. By call, kind and when. */
const NOT_A_FAULT: { readonly [name: string]: string } = {
  "decide empty before": "an empty 2xx is the service's yes",
};

export type WireCase = Call & Disturbed & { readonly kind: KindName; readonly when: When };

export const WIRE_CASES: readonly WireCase[] = CALLS.flatMap((call) =>
  (Object.keys(KINDS) as KindName[]).flatMap((kind) =>
    KINDS[kind].whens
      .filter((when) => !Object.hasOwn(NOT_A_FAULT, `${call.call} ${kind} ${when}`))
      .map((when) => ({
        ...call,
        kind,
        when,
        name: `${kind} ${when} ${call.call}, from the ${call.from} on`,
      })),
  ),
);
