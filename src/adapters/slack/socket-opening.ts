// Asks Slack for the address of a socket until Slack gives one. The SDK stops trying, without an error that we could handle, if Slack refuses
// the app token once during a reconnect.

import type { SocketModeReceiver } from "@slack/bolt";
import type { WebClient } from "@slack/web-api";
import type { Clock } from "../../engine/clock.ts";
import { type EventLog, PortError } from "../../ports.ts";
import { toPortError } from "./clients.ts";
import { REFUSED_TOKEN } from "./slack-calls.ts";

/** The pauses between two calls double from the first to the longest (ms). */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** The error codes with which Slack refuses a token for sockets. */
const REFUSED_APP_TOKEN: ReadonlySet<string> = new Set([
  ...REFUSED_TOKEN,
  "user_removed_from_team",
  "team_disabled",
]);

type Deps = { readonly clock: Clock; readonly log: EventLog };

type SocketOpening = {
  /** Rejects with a one-line message for operators if Slack refuses the token before it has accepted it once. Never resolves. */
  readonly refusedAtStart: Promise<never>;
  /** Whether Slack has refused the token since it last accepted it. */
  isRefused(): boolean;
  /** No call begins after this, and no socket opens. */
  stop(): void;
};

/** Replaces the client's call for an address by one that never rejects. It does not resolve after a stop. */
export function openUntilAnswered(client: SocketModeReceiver["client"], { clock, log }: Deps): SocketOpening {
  // The types of the SDK leave out the type of this private member.
  const { connections } = (client["webClient"] as WebClient).apps;
  const ask = connections.open;
  const { promise: refusedAtStart, reject: refuseStart } = Promise.withResolvers<never>();
  let token: "untried" | "accepted" | "refused" = "untried";
  let isStopped = false;
  let cancelPause = (): void => undefined;

  const open: typeof ask = async (args) => {
    for (let failures = 0; ; failures += 1) {
      const answer = await ask(args).catch(toPortError);
      if (isStopped) return NEVER;
      if (!(answer instanceof PortError)) {
        token = "accepted";
        return answer;
      }
      const refuses = REFUSED_APP_TOKEN.has(answer.code);
      if (refuses && token === "untried") {
        refuseStart(appTokenRefusal(answer));
        return NEVER;
      }
      if (refuses) token = "refused";
      log.warn({ code: answer.code }, refuses ? REFUSED : NO_SOCKET);
      const ms = pauseMs(failures, answer);
      await new Promise<void>((resolve) => (cancelPause = clock.after(ms, resolve)));
    }
  };
  Object.assign(connections, { open });
  return {
    refusedAtStart,
    isRefused: () => token === "refused",
    stop() {
      isStopped = true;
      cancelPause();
    },
  };
}

const pauseMs = (failures: number, { retryAfterMs }: PortError): number =>
  Math.max(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), retryAfterMs ?? 0);

export const appTokenRefusal = (error: PortError): Error =>
  new Error(
    `Slack refuses SLACK_APP_TOKEN (${error.code}). It needs an app-level token with the scope connections:write.`,
    { cause: error },
  );

const NEVER = new Promise<never>(() => undefined);

const REFUSED =
  "Slack refuses SLACK_APP_TOKEN, so no click arrives; trying again. If this stays, set a token that Slack accepts, and restart Countersign";
const NO_SOCKET = "cannot get a socket from Slack, so no click arrives; trying again";
