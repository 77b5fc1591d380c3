// Each call that a life makes to the service and to Slack, and when in the life the fault is set up.

import type { FaultCase } from "./play-life.ts";
import { KINDS, type KindName, type When } from "./wire-kinds.ts";

/** The fault hits the first such call after people did `from`. */
type Call = Omit<FaultCase, "name"> & {
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

/** Cases that are left out because the interface gives them another meaning, by call, kind and when. */
const NOT_A_FAULT: { readonly [name: string]: string } = {
  "decide empty before": "an empty 2xx is the service's yes",
};

export type WireCase = Call & FaultCase & { readonly kind: KindName; readonly when: When };

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
