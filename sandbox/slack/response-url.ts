// response_url: the app can answer up to five times within half an hour where a person acted, even if it is not a member.

import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { acceptContent, acceptMetadata } from "./content.ts";
import type { SlackContext } from "./slack-context.ts";
import { Refused } from "./errors.ts";
import { type Answer, applyFault, replacesAnswer, sendAnswer } from "./faulty-answer.ts";
import { readJson } from "./http-request.ts";
import { readArgs, type Schema } from "./method.ts";
import type { ChannelId, Message, PersonId } from "./model.ts";
import { threadAt } from "./places.ts";
import type { Json } from "./json-object.ts";
import { forgetBefore } from "./triggers.ts";

/** docs.slack.dev, handling user interaction. */
const maxUses = 5;
const maxBody = 1_000_000;
/** The name of the call in the traffic and for faults. */
const CALL = "response_url";

export type Origin = {
  readonly person: PersonId;
  readonly channel: ChannelId;
  /** The message that contains the button. Null for a command. */
  readonly message: Message | null;
};

type Issued = Origin & { readonly at: number; uses: number };

type Workspace = SlackContext["workspace"];

type Needs = Pick<SlackContext, "workspace" | "url" | "now" | "timing" | "traffic" | "faults">;

export type ResponseUrls = ReturnType<typeof createResponseUrls>;

export function createResponseUrls(needs: Needs) {
  const issued = new Map<string, Issued>();
  const spend = (key: string): Issued => {
    const one = issued.get(key);
    if (!one) throw new Refused("invalid_url");
    if (needs.now() - one.at > needs.timing.responseUrlMs) throw new Refused("expired_url");
    if (one.uses >= maxUses) throw new Refused("used_url");
    one.uses++;
    return one;
  };
  return {
    issue: (origin: Origin): string => {
      // Expired addresses are kept as long again, so that they are reported as expired and not as unknown.
      forgetBefore(issued, needs.now() - 2 * needs.timing.responseUrlMs);
      const key = randomBytes(18).toString("base64url");
      issued.set(key, { ...origin, at: needs.now(), uses: 0 });
      return `${needs.url()}response/${needs.workspace.team.id}/${key}`;
    },
    /** Slack's errors here are not documented. Its clients report the status 404. */
    handle: async (key: string, req: IncomingMessage, res: ServerResponse): Promise<void> => {
      const fields = await readJson(req, maxBody).catch(unread);
      const use = (issued.get(key)?.uses ?? 0) + 1;
      const detail = { use: `${use} of ${maxUses}`, answer: fields };
      const fault = needs.faults.take(CALL, fields ?? {});
      if (await applyFault(fault, "before", res))
        return void needs.traffic.add("app", CALL, detail, "replaced by a fault", { lost: true });
      const refusal = refusalOf(() => {
        const origin = spend(key);
        if (fields === null) throw new Refused("invalid_payload");
        respond(needs.workspace, origin, fields);
      });
      const lost = replacesAnswer(fault, "after");
      needs.traffic.add("app", CALL, detail, refusal?.code ?? null, { lost });
      await sendAnswer(fault, res, answerOf(refusal));
    },
  };
}

/** Returns why Slack refuses what `act` does, or null. Rethrows other errors. */
function refusalOf(act: () => void): Refused | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

function answerOf(refusal: Refused | null): Answer {
  const headers = { "content-type": "application/json; charset=utf-8" };
  if (refusal === null) return { status: 200, text: JSON.stringify({ ok: true }), headers };
  const { code, more } = refusal;
  const status = code.endsWith("_url") ? 404 : 400;
  return { status, text: JSON.stringify({ ok: false, error: code, ...more }), headers };
}

/** Returns null for a body that cannot be read. Rethrows other errors. */
function unread(error: unknown): null {
  if (error instanceof Refused) return null;
  throw error;
}

/** The fields of RespondArguments in @slack/bolt. Fields without a visible effect are accepted, as with chat.postMessage. */
const answerFields = {
  text: "string",
  blocks: "array",
  response_type: "string",
  replace_original: "boolean",
  delete_original: "boolean",
  thread_ts: "string",
  metadata: "object",
  parse: "string",
  link_names: "boolean",
  mrkdwn: "boolean",
  unfurl_links: "boolean",
  unfurl_media: "boolean",
  attachments: "not imitated",
} satisfies Schema;

/** Posts the answer, by default to the person only. The answer can also replace or delete the original message. */
export function respond(workspace: Workspace, { message, ...origin }: Origin, fields: Json): void {
  const args = readArgs(answerFields, fields, nowhere);
  const original = (): Message => {
    if (!message || !workspace.messages.includes(message)) throw new Refused("message_not_found");
    return message;
  };
  if (args.delete_original === true) {
    if (Object.keys(fields).length > 1) throw new Refused("invalid_payload");
    return workspace.remove(original());
  }
  const { text, blocks } = acceptContent({ text: args.text, blocks: args.blocks });
  const metadata = args.metadata && { metadata: acceptMetadata(args.metadata) };
  if (args.replace_original === true && message)
    return workspace.edit(original(), { text, blocks, ...metadata });
  const type = args.response_type ?? "ephemeral";
  if (type !== "ephemeral" && type !== "in_channel") throw new Refused("invalid_response_type");
  const ephemeralFor = type === "ephemeral" ? origin.person : null;
  const { channel } = origin;
  const thread = threadAt({ workspace }, { id: channel }, args.thread_ts) ?? message?.thread ?? null;
  const author = workspace.app.person;
  workspace.post({ channel, author, text, blocks, thread, ephemeralFor, ...metadata });
}

/** No other fields are accepted. */
const nowhere: ReadonlySet<string> = new Set();
