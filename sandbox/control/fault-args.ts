// The faults that a control request can inject.

import { z } from "zod";
import type { Fault } from "../service/request-faults.ts";

const effect = z.boolean().exactOptional().describe("true: the request takes effect first");
const ms = z.number().int().min(0).max(3_600_000);

const headers = z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\x20-\x7e]*$/)).exactOptional();

/** Faults for a request to the service or the gateway. */
export const serverFault = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("answer"),
      status: z.number().int().min(200).max(599),
      body: z.union([z.string(), z.record(z.string(), z.unknown())]).exactOptional(),
      headers,
      effect,
    }),
    z.strictObject({ type: z.literal("delay"), ms, effect }),
    z.strictObject({ type: z.literal("gate"), effect }),
    z.strictObject({ type: z.literal("hang"), effect }),
    z.strictObject({ type: z.literal("drop"), effect }),
    z.strictObject({ type: z.literal("cut") }),
    z.strictObject({ type: z.literal("garbage") }),
    z.strictObject({
      type: z.literal("huge"),
      length: z
        .number()
        .int()
        .min(14)
        .max(2 ** 28)
        .exactOptional(),
    }),
    z.strictObject({ type: z.literal("drip"), everyMs: ms }),
    z.strictObject({
      type: z.literal("redirect"),
      to: z.url({ protocol: /^https?$/ }),
      status: z.literal([301, 302, 303, 307, 308]).exactOptional(),
    }),
  ])
  .describe("the kind of fault") satisfies z.ZodType<Fault>;

export const times = z
  .union([z.literal("all"), z.number().int().min(1).max(10_000)])
  .default(1)
  .describe("how many requests it affects");

const when = z.enum(["before", "after"]);

/** Faults for a Web API call of Slack. With "after", the call takes effect first. */
export const slackFault = z
  .union([
    z.strictObject({ error: z.string().min(1), more: z.record(z.string(), z.unknown()).exactOptional() }),
    z.strictObject({ http: z.number().int().min(400).max(599), when: when.exactOptional() }),
    z.strictObject({ retryAfter: z.number().int().min(0).max(3_600) }),
    z.strictObject({ drop: when }),
    z.strictObject({ hang: when }),
    z.strictObject({
      answer: z.strictObject({ status: z.number().int().min(200).max(599), headers, body: z.string() }),
      when: when.exactOptional(),
    }),
    z.strictObject({ cut: z.literal(true) }),
    z.strictObject({ drip: ms }),
  ])
  .describe(
    "`{error}`, `{http, when?}`, `{retryAfter}`, `{drop: when}`, `{hang: when}`, `{answer, when?}`, `{cut: true}` or `{drip: ms}`",
  );
