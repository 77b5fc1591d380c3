// What the sandbox's Slack has sent, taken from its traffic: each Web API answer and each payload, by the name of its published type.

import type { Slack } from "#sandbox/slack/start-slack.ts";

export type Sent = { readonly name: string; readonly body: unknown };

type Detail = {
  readonly answer?: unknown;
  readonly payload?: { readonly kind: string; readonly body: { readonly [field: string]: unknown } };
};

export function sentBy(slack: Pick<Slack, "traffic">): readonly Sent[] {
  return slack.traffic.lines().flatMap(({ from, what, detail }) => {
    const { answer, payload } = (detail ?? {}) as Detail;
    if (from === "app" && answer !== undefined) return [{ name: what, body: answer }];
    return from === "slack" && payload !== undefined ? [{ name: nameOf(payload), body: payload.body }] : [];
  });
}

function nameOf({ kind, body }: NonNullable<Detail["payload"]>): string {
  if (kind === "slash_commands") return kind;
  if (kind === "interactive") return String(body["type"]);
  return String((body["event"] as { readonly type?: string } | undefined)?.type);
}
