// Builds the Slack adapter: the two clients, the ports that the use cases need, and the Bolt app.

import type { Logger } from "@slack/logger";
import type { Clock } from "../../engine/clock.ts";
import type { NotificationSender } from "../../notifications/notification.ts";
import type { Chat, EventLog, People } from "../../ports.ts";
import { createResponder } from "./responder.ts";
import { createSlackApp, type SlackApp, type Transport } from "./bolt-app.ts";
import { createChat } from "./chat.ts";
import { createClients } from "./clients.ts";
import { whichApp, whoAmI } from "./connect.ts";
import { createFiles } from "./files.ts";
import { createRateLimiter } from "./rate-limiter.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { createNotificationSender } from "./notification-sender.ts";
import { createOpenedForms } from "./opened-forms.ts";
import { createPeople } from "./people.ts";
import type { SlackSelf } from "./answers.ts";

export type SlackOptions = {
  readonly transport: Transport;
  readonly botToken: string;
  readonly apiUrl: string | null;
  readonly command: string;
  /** Null: we ask Slack. */
  readonly appId: string | null;
  readonly rejectedRequests: (reason: string) => void;
  readonly logger: Logger;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly digest: (text: string) => string;
  readonly nonce: () => string;
};

export type UseCases = Pick<
  ListenerDeps,
  | "startRun"
  | "adoptRun"
  | "queries"
  | "openForm"
  | "submitDecision"
  | "undoDecision"
  | "noteRefusal"
  | "exportEvidence"
  | "dispute"
  | "cards"
  | "acknowledge"
>;

export type SlackAdapter = {
  readonly self: SlackSelf;
  readonly chat: Chat;
  readonly notificationSender: NotificationSender;
  readonly people: People;
  /** Called second: the listeners need the use cases, and those need `chat` and `people`. */
  app(useCases: UseCases): SlackApp;
};

/** Rejects with one line for people when Slack refuses the bot token. */
export async function createSlack(options: SlackOptions): Promise<SlackAdapter> {
  const { apiUrl, clock, log, digest } = options;
  const { quick, background } = createClients(options.botToken, apiUrl, options.logger);
  const answerAt = createResponder(apiUrl);
  const now = (): number => clock.now();
  const monotonic = (): number => clock.monotonic();
  const self = await whoAmI(quick, log);
  const appId = await whichApp(quick, self, options.appId, log);
  const call = background;
  const limiter = createRateLimiter(clock);
  const files = createFiles(call, apiUrl);
  const chat = createChat({ call, limiter, files, answerAt, self, digest, monotonic });
  const notificationSender = createNotificationSender({ call, limiter, files, self, digest });
  const people = createPeople(quick, self, clock);
  return {
    self,
    chat,
    notificationSender,
    people,
    app: (useCases) => {
      const { command, nonce } = options;
      const deps: ListenerDeps = {
        ...useCases,
        team: self.team,
        self: self.user,
        command,
        quick,
        answerAt,
        forms: createOpenedForms(),
        nonce,
        clock,
        log,
      };
      return createSlackApp({ ...options, self, appId, teamOf: people.teamOf, now }, deps);
    },
  };
}
