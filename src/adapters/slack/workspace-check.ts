// Checks that every payload is for our app and our workspace, in both modes and before any listener. A valid signature does not prove that,
// because Slack signs the payloads of all workspaces in the same way.

import type { AllMiddlewareArgs } from "@slack/bolt";
import { type EventLog, PortError } from "../../ports.ts";
import { messageModal } from "./blocks/decision-modal.ts";
import { textAnswer } from "./blocks/message-id.ts";
import type { Responder } from "./clients.ts";
import { type Origin, originOf } from "./payloads.ts";

/** Resolves to the person's workspace according to Slack. Rejects with PortError. */
export type TeamOf = (user: string) => Promise<string>;

type Self = { readonly app: string; readonly team: string; readonly enterprise: string | null };

export type WorkspaceCheckOptions = {
  readonly self: Self;
  readonly teamOf: TeamOf;
  readonly rejectedRequests: (reason: string) => void;
  readonly answerAt: Responder;
  readonly log: EventLog;
};

type RejectionReason = "other-app" | "other-team" | "unverified-team";

const TITLE = "Nothing was done";
const WORDS: Readonly<Record<RejectionReason, string>> = {
  "other-app":
    "This came from a Slack app that this Countersign does not serve. Nothing was done. Tell the people who operate Countersign.",
  "other-team":
    "This came from a workspace that this Countersign does not serve. Nothing was done. Tell the people who operate Countersign.",
  "unverified-team":
    "Slack could not confirm just now which workspace you belong to, so nothing was done. Try again in a moment.",
};

/** The part of Bolt's middleware arguments that we use. Events have no `ack`, because Bolt acknowledges them earlier. */
type MiddlewareArgs = Pick<AllMiddlewareArgs, "next"> & {
  readonly body: object;
  readonly ack?: unknown;
};

export function createWorkspaceCheck(
  options: WorkspaceCheckOptions,
): (args: MiddlewareArgs) => Promise<void> {
  return async ({ body, ack, next }) => {
    const rejection = await checkOrigin(options, originOf(body));
    if (rejection === null) return next();
    options.rejectedRequests(rejection);
    if (isAck(ack)) await answerRejected(options, body, ack, rejection);
  };
}

/** Resolves to null if the payload is for our app and our workspace. */
export async function checkOrigin(
  { self, teamOf }: Pick<WorkspaceCheckOptions, "self" | "teamOf">,
  { app, unnamed, teams, organization, user }: Origin,
): Promise<RejectionReason | null> {
  // Slack uses a different signing secret for each app, and a socket belongs to one app. So a payload without the field is ours too.
  if (!unnamed && app !== self.app) return "other-app";
  if (teams.includes(self.team)) return null;
  if (organization !== null && organization === self.enterprise) return null;
  // For a guest from another organization in a shared channel, Slack names their own workspace. We let the payload through, so that a use
  // case can explain the refusal, but only if Slack confirms that the person belongs to that workspace. Otherwise a payload could combine a
  // member's id with a foreign workspace.
  const [claimed] = teams;
  if (claimed === undefined || user === null) return "other-team";
  try {
    return (await teamOf(user)) === claimed ? null : "other-team";
  } catch (error) {
    if (error instanceof PortError) return "unverified-team";
    throw error;
  }
}

type Ack = (answer?: object) => Promise<void>;

function isAck(ack: unknown): ack is Ack {
  return typeof ack === "function";
}

/** Answers with words, because after an empty answer, a form closes and a command looks accepted. */
async function answerRejected(
  { answerAt, log }: WorkspaceCheckOptions,
  body: object,
  ack: Ack,
  reason: RejectionReason,
): Promise<void> {
  const message = textAnswer(`answer:${reason}`, WORDS[reason]);
  const kind = "command" in body ? "command" : "type" in body ? body.type : null;
  if (kind === "command") return ack({ response_type: "ephemeral", ...message });
  if (kind === "view_submission")
    return ack({ response_action: "update", view: messageModal(TITLE, WORDS[reason], `answer:${reason}`) });
  await ack();
  const url = "response_url" in body ? body.response_url : null;
  if ((kind !== "block_actions" && kind !== "message_action") || typeof url !== "string") return;
  await answerAt(url, message).catch((error: unknown) => {
    log.debug({ error }, "could not tell a person that their click was rejected");
  });
}
