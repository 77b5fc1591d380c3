// In both modes every payload passes here before any listener: is it for this app, and for this workspace? Slack signs for all
// apps and workspaces alike, so a signature alone does not say so.

import type { AllMiddlewareArgs } from "@slack/bolt";
import { type EventLog, PortError } from "../../ports.ts";
import type { Responder } from "./responder.ts";
import { refusedModal } from "./blocks/decision-modal.ts";
import { type Origin, originOf } from "./payloads.ts";

/** The workspace that Slack itself names for this person. Rejects with PortError. */
export type TeamOf = (user: string) => Promise<string>;

type Self = { readonly app: string; readonly team: string; readonly enterprise: string | null };

export type WorkspaceCheckOptions = {
  readonly self: Self;
  readonly teamOf: TeamOf;
  readonly rejectedRequests: (because: string) => void;
  readonly answerAt: Responder;
  readonly log: EventLog;
};

type No = "other-app" | "other-team" | "unverified-team";

const TITLE = "Nothing was done";
const WORDS: Readonly<Record<No, string>> = {
  "other-app":
    "This was sent by another Slack app than the one this Countersign serves. Nothing was done. Tell whoever runs Countersign.",
  "other-team":
    "This came from another workspace than the one this Countersign serves. Nothing was done. Tell whoever runs Countersign.",
  "unverified-team":
    "Slack did not say just now which workspace you belong to, so nothing was done. Try again in a moment.",
};

/** As much as is used of what Bolt hands to a middleware; events have no `ack`, they are acknowledged before. */
type Passing = Pick<AllMiddlewareArgs, "next"> & {
  readonly body: object;
  readonly ack?: unknown;
};

export function createWorkspaceCheck(options: WorkspaceCheckOptions): (passing: Passing) => Promise<void> {
  return async ({ body, ack, next }) => {
    const no = await judge(options, originOf(body));
    if (no === null) return next();
    options.rejectedRequests(no);
    if (isAck(ack)) await tell(options, body, ack, no);
  };
}

/** Null: it is ours. */
export async function judge(
  { self, teamOf }: Pick<WorkspaceCheckOptions, "self" | "teamOf">,
  { app, teams, organisation, user }: Origin,
): Promise<No | null> {
  if (app !== self.app) return "other-app";
  if (teams.includes(self.team)) return null;
  if (organisation !== null && organisation === self.enterprise) return null;
  // A guest of another organisation in a shared channel: Slack names their workspace. They are let in to be refused with words,
  // but only if Slack, asked by us, knows this person under that workspace: else a member's name would come with a foreign team.
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

/** An empty answer would close a form, or leave a command without a word, as if all were well. */
async function tell({ answerAt, log }: WorkspaceCheckOptions, body: object, ack: Ack, no: No): Promise<void> {
  const kind = "command" in body ? "command" : "type" in body ? body.type : null;
  if (kind === "command") return ack({ response_type: "ephemeral", text: WORDS[no] });
  if (kind === "view_submission")
    return ack({ response_action: "update", view: refusedModal(TITLE, WORDS[no]) });
  await ack();
  const url = "response_url" in body ? body.response_url : null;
  if (kind !== "block_actions" || typeof url !== "string") return;
  await answerAt(url, { text: WORDS[no] }).catch((error: unknown) => {
    log.debug({ error }, "nobody could be told that a click was turned away");
  });
}
