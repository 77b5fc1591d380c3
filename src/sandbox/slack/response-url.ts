// response_url: for half an hour and five times the app may answer where a person acted, member or not.

import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

import { acceptContent } from "./content.ts";
import type { Ground } from "./ground.ts";
import { readFields, sendJson } from "./http-body.ts";
import type { ChannelId, Message, PersonId } from "./model.ts";
import { Refused } from "./refused.ts";
import type { Json } from "./rules-check.ts";

/** docs.slack.dev, handling user interaction. */
const maxUses = 5;
const maxBody = 1_000_000;

export type Origin = {
  readonly person: PersonId;
  readonly channel: ChannelId;
  /** The message that was clicked in; null after a command. */
  readonly message: Message | null;
};

type Issued = Origin & { readonly at: number; uses: number };

type Needs = Pick<Ground, "workspace" | "url" | "now" | "timing" | "traffic">;

export type ResponseUrls = ReturnType<typeof createResponseUrls>;

export const createResponseUrls = (needs: Needs) => {
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
      const key = randomBytes(18).toString("base64url");
      issued.set(key, { ...origin, at: needs.now(), uses: 0 });
      return `${needs.url()}response/${needs.workspace.team.id}/${key}`;
    },
    /** How Slack words these failures is not documented; the 404 is what its clients report. */
    handle: async (key: string, req: IncomingMessage, res: ServerResponse): Promise<void> => {
      const fields = await readFields(req, maxBody).catch(unread);
      const use = (issued.get(key)?.uses ?? 0) + 1;
      const detail = { use: `${use} of ${maxUses}`, answer: fields };
      try {
        const origin = spend(key);
        if (fields === null) throw new Refused("invalid_payload");
        respond(needs.workspace, origin, fields);
        needs.traffic.add("app", "response_url", detail);
        sendJson(res, 200, { ok: true });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        needs.traffic.add("app", "response_url", detail, error.code);
        const status = error.code.endsWith("_url") ? 404 : 400;
        sendJson(res, status, { ok: false, error: error.code, ...error.more });
      }
    },
  };
};

/** Null stands for a body that cannot be read. */
const unread = (error: unknown): null => {
  if (error instanceof Refused) return null;
  throw error;
};

/** An answer: to one person unless it says «in_channel», instead of the original when it asks for that. */
export const respond = (workspace: Needs["workspace"], origin: Origin, fields: Json): void => {
  const original = origin.message;
  if (fields["delete_original"] === true) {
    if (Object.keys(fields).length > 1) throw new Refused("invalid_payload");
    if (!original || !workspace.messages.includes(original)) throw new Refused("message_not_found");
    return workspace.remove(original);
  }
  const text = typeof fields["text"] === "string" ? fields["text"] : undefined;
  const said = acceptContent({ text, blocks: fields["blocks"] });
  const { text: shown, blocks } = said;
  if (fields["replace_original"] === true && original) {
    if (!workspace.messages.includes(original)) throw new Refused("message_not_found");
    return workspace.edit(original, { text: shown, blocks });
  }
  const type = fields["response_type"] ?? "ephemeral";
  if (type !== "ephemeral" && type !== "in_channel") throw new Refused("invalid_response_type");
  const ephemeralFor = type === "ephemeral" ? origin.person : null;
  const { channel } = origin;
  const thread = original?.thread ?? null;
  workspace.post({ channel, author: workspace.app.person, text: shown, blocks, thread, ephemeralFor });
};
