// What the listeners use: the use cases, the clients, and the memory of clicks.

import type { Bot, UseCases } from "../../bot.ts";
import type { TeamId, UserId } from "../../domain/ids.ts";
import type { Clock } from "../../engine/clock.ts";
import type { EventLog } from "../../ports.ts";
import type { FormStore } from "../../ports/store.ts";
import type { Deployment } from "./blocks/deployment.ts";
import type { CardReplacements, Once } from "./click-memory.ts";
import type { Call, Responder } from "./clients.ts";
import type { LiveHomes } from "./live-homes.ts";

/** The parts of the bot that the listeners use. */
export type BotParts = Pick<Bot, keyof UseCases | "queries" | "cards" | "orphans">;

export type ListenerDeps = BotParts & {
  readonly team: TeamId;
  /** The user id of our own bot. */
  readonly self: UserId;
  readonly command: string;
  readonly deployment: Deployment;
  /** For calls that a person waits for, such as views and links. */
  readonly quick: Call;
  readonly answerAt: Responder;
  readonly once: Once;
  readonly homes: LiveHomes;
  readonly replacements: CardReplacements;
  readonly nonce: () => string;
  readonly macOf: FormStore["macOf"];
  readonly clock: Clock;
  readonly log: EventLog;
};
