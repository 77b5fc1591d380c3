// Reads Block Kit as the app sent it. These functions never throw.

export type Json = Record<string, unknown>;

export function record(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function records(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(record) : [];
}

export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The string in a `plain_text` or `mrkdwn` object. */
export function textOf(value: unknown): string {
  return string(record(value)["text"]);
}
