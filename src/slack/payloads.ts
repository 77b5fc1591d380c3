// What a slash command, a click and a submitted modal tell us. Ids are checked for their shape; whether they are true is asked of
// Slack and of our store. A payload that lacks something is nobody's act.

import { z } from "zod";
import { ChannelId, MessageTs, UserId } from "../core/ids.ts";
import type { FlowLog } from "../flow/flow-log.ts";

const id = <Id extends string>(make: (text: string) => Id) =>
  z.string().transform((text, ctx): Id => {
    try {
      return make(text);
    } catch {
      ctx.addIssue({ code: "custom", message: "not of the expected shape" });
      return z.NEVER;
    }
  });

const user = z.object({ id: id(UserId) });

export const commandPayload = z.object({
  user_id: id(UserId),
  channel_id: id(ChannelId),
  text: z.string().default(""),
  trigger_id: z.string().min(1),
  response_url: z.string(),
});
export type CommandPayload = z.infer<typeof commandPayload>;

export const clickPayload = z.object({
  user,
  channel: z.object({ id: id(ChannelId) }),
  message: z.object({ ts: id(MessageTs) }),
  actions: z.tuple([z.object({ action_id: z.string(), value: z.string() })]),
  trigger_id: z.string().min(1),
  response_url: z.string(),
});
export type ClickPayload = z.infer<typeof clickPayload>;

const typed = z.record(z.string(), z.record(z.string(), z.object({ value: z.string().nullish() })));

export const submitPayload = z.object({
  user,
  view: z.object({ private_metadata: z.string(), state: z.object({ values: typed }) }),
});
export type SubmitPayload = z.infer<typeof submitPayload>;

/** What was typed into an input; empty where nothing was. */
export function typedInto(payload: SubmitPayload, block: string, input: string): string {
  return payload.view.state.values[block]?.[input]?.value ?? "";
}

/** A payload of another shape than Slack documents is logged by where it is wrong, never by what it says. */
export function readPayload<Shape extends z.ZodType>(
  shape: Shape,
  body: unknown,
  log: FlowLog,
): z.infer<Shape> | null {
  const result = shape.safeParse(body);
  if (result.success) return result.data;
  log.warn(
    { wrong: result.error.issues.map(({ path }) => path.join(".")) },
    "a payload was not of the expected shape",
  );
  return null;
}
