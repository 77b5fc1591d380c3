// The requests that the gateway accepts, in two conventions. It refuses options that the local model cannot fulfill, and ignores none.

import { z } from "zod";

const plainPart = z.looseObject({ type: z.enum(["text", "input_text", "refusal"]), text: z.string() });
const toolUse = z.looseObject({ type: z.literal("tool_use"), name: z.string(), input: z.unknown() });
const thinking = z.looseObject({ type: z.enum(["thinking", "redacted_thinking"]) });
const toolResult = z.looseObject({
  type: z.literal("tool_result"),
  content: z.union([z.string(), z.array(plainPart)]).default(""),
});
const part = z.union([plainPart, toolUse, toolResult, thinking]);

function textOf(content: string | readonly z.infer<typeof part>[]): string {
  return typeof content === "string" ? content : content.map(textOfPart).join("\n");
}

function textOfPart(one: z.infer<typeof part>): string {
  switch (one.type) {
    case "text":
    case "input_text":
    case "refusal":
      return one.text;
    case "tool_use":
      return `${one.name} ${JSON.stringify(one.input) ?? ""}`;
    case "tool_result":
      return textOf(one.content);
    case "thinking":
    case "redacted_thinking":
      return "";
  }
}

const readable = "must be text, or a list of text parts: the local model reads nothing else";
const content = z.union([z.string(), z.array(part)], { error: readable }).transform(textOf);
const onlyText = z.union([z.string(), z.array(plainPart)], { error: readable }).transform(textOf);
const modelName = z.string().min(1);
const tokenLimit = z.int().min(1);
const sequences = z.array(z.string().min(1)).max(16);
const noTools = "the local model cannot call tools";

const toolCall = z.looseObject({ function: z.looseObject({ name: z.string(), arguments: z.string() }) });
const chatMessage = z
  .looseObject({
    role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
    content: content.nullish(),
    tool_calls: z.array(toolCall).nullish(),
  })
  .refine(({ role, content }) => role === "assistant" || typeof content === "string", {
    path: ["content"],
    error: "is required",
  })
  .transform(({ role, content, tool_calls }) => ({
    role,
    content: [
      content ?? "",
      ...(tool_calls ?? []).map((call) => `${call.function.name} ${call.function.arguments}`),
    ].join("\n"),
  }));

export const chatRequest = z.object({
  model: modelName,
  messages: z.array(chatMessage).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().default(false) }).nullish(),
  max_tokens: tokenLimit.nullish(),
  max_completion_tokens: tokenLimit.nullish(),
  stop: z.union([z.string().min(1), sequences]).nullish(),
  n: z.literal(1, "the local model gives one answer").nullish(),
  tool_choice: z.enum(["none", "auto"], noTools).nullish(),
  response_format: z
    .looseObject({ type: z.literal("text", "the local model answers in plain text only") })
    .nullish(),
  logprobs: z.literal(false, "the local model has no probabilities").nullish(),
  modalities: z.array(z.literal("text", "the local model answers in plain text only")).nullish(),
});

export const messagesRequest = z.object({
  model: modelName,
  messages: z.array(z.looseObject({ role: z.enum(["user", "assistant", "system"]), content })).min(1),
  max_tokens: tokenLimit,
  system: onlyText.optional(),
  stream: z.boolean().optional(),
  stop_sequences: sequences.nullish(),
  tool_choice: z.looseObject({ type: z.enum(["none", "auto"], noTools) }).nullish(),
  output_config: z
    .looseObject({ format: z.null("the local model answers in plain text only").optional() })
    .nullish(),
});

const input = z.string().refine((text) => text.trim() !== "", "must not be empty");
export const embeddingsRequest = z.object({
  model: modelName,
  input: z
    .union([input.transform((one) => [one]), z.array(input).min(1).max(2048)], {
      error: "must be a text that is not empty, or a list of up to 2048 such texts",
    })
    .readonly(),
  dimensions: z.int().min(8).max(3072).default(256),
  encoding_format: z.enum(["float", "base64"]).default("float"),
});

/** Describes all problems of a request in one line. */
export function faultsIn(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`))
    .join("; ");
}
