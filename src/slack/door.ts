// Slack, joined: the two clients, the ports that the use cases need, and the app that hears people.

import type { Logger } from "@slack/logger";
import type { Clock } from "../flow/clock.ts";
import type { FlowLog } from "../flow/flow-log.ts";
import type { Mail } from "../flow/letter.ts";
import type { People } from "../flow/people.ts";
import type { Chat } from "../flow/ports.ts";
import { createAnswerAt } from "./answer-url.ts";
import { createSlackApp, type Entrance, type SlackApp } from "./bolt.ts";
import { createChat } from "./chat.ts";
import { createClients } from "./clients.ts";
import { whichApp, whoAmI } from "./connect.ts";
import { createFiles } from "./files.ts";
import { createLane } from "./lane.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { createMail } from "./mail.ts";
import { createOpenedForms } from "./opened-forms.ts";
import { createPeople } from "./people.ts";
import type { SlackSelf } from "./wire.ts";

export type SlackOptions = {
  readonly entrance: Entrance;
  readonly botToken: string;
  readonly apiUrl: string | null;
  readonly command: string;
  /** Null: Slack is asked. */
  readonly appId: string | null;
  readonly turnedAway: (because: string) => void;
  readonly logger: Logger;
  readonly log: FlowLog;
  readonly clock: Clock;
  readonly digest: (text: string) => string;
  readonly nonce: () => string;
};

export type UseCases = Pick<
  ListenerDeps,
  | "startRun"
  | "adoptRun"
  | "questions"
  | "openModal"
  | "recordDecision"
  | "undoDecision"
  | "noteRefusal"
  | "giveAudit"
  | "dispute"
  | "cards"
  | "acknowledge"
>;

export type SlackDoor = {
  readonly self: SlackSelf;
  readonly chat: Chat;
  readonly mail: Mail;
  readonly people: People;
  /** The listeners need the use cases, which need `chat` and `people`: so they come second. */
  app(useCases: UseCases): SlackApp;
};

/** Rejects with one line for people when Slack refuses the bot token. */
export async function createSlack(options: SlackOptions): Promise<SlackDoor> {
  const { apiUrl, clock, log, digest } = options;
  const { quick, background } = createClients(options.botToken, apiUrl, options.logger);
  const answerAt = createAnswerAt(apiUrl);
  const now = (): number => clock.now();
  const monotonic = (): number => clock.monotonic();
  const self = await whoAmI(quick, log);
  const appId = await whichApp(quick, self, options.appId, log);
  const call = background;
  const lane = createLane(clock);
  const files = createFiles(call, apiUrl);
  const chat = createChat({ call, lane, files, answerAt, self, digest, monotonic });
  const mail = createMail({ call, lane, files, self, digest });
  const people = createPeople(quick, self, clock);
  return {
    self,
    chat,
    mail,
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
