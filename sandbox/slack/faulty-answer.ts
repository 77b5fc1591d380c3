// Applies an injected fault to an answer of Slack's: of the Web API, of a `response_url` or of an upload.

import type { ServerResponse } from "node:http";
import type { Fault } from "./injected-faults.ts";

export type Answer = {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
};

type When = "before" | "after";

/** Whether the fault replaces the answer at this point. */
export function replacesAnswer(fault: Fault | undefined, when: When): boolean {
  if (!fault) return false;
  if ("hang" in fault) return fault.hang === when;
  if ("drop" in fault) return fault.drop === when;
  return ("http" in fault || "answer" in fault) && (fault.when ?? "before") === when;
}

/** Applies the fault, and returns whether it replaced the answer. A call that hangs ends only when the sandbox stops. */
export async function applyFault(
  fault: Fault | undefined,
  when: When,
  res: ServerResponse,
): Promise<boolean> {
  if (!fault) return false;
  if ("until" in fault && (fault.when ?? "before") === when) await fault.until;
  if (!replacesAnswer(fault, when)) return false;
  if ("drop" in fault) res.destroy();
  else if ("http" in fault) res.writeHead(fault.http).end();
  else if ("answer" in fault)
    res.writeHead(fault.answer.status, { ...fault.answer.headers }).end(fault.answer.body);
  return true;
}

/** Sends the answer of a call that took effect, unless the fault spoils it. */
export async function sendAnswer(
  fault: Fault | undefined,
  res: ServerResponse,
  { status, text, headers }: Answer,
): Promise<void> {
  if ((await applyFault(fault, "after", res)) || res.destroyed) return;
  res.writeHead(status, { "content-length": Buffer.byteLength(text), ...headers });
  if (fault && "cut" in fault) res.write(text.slice(0, Math.ceil(text.length / 2)), () => res.destroy());
  else if (fault && "drip" in fault) await drip(res, text, fault.drip);
  else res.end(text);
}

async function drip(res: ServerResponse, text: string, everyMs: number): Promise<void> {
  for (const character of text) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    if (res.destroyed) return;
    res.write(character);
  }
  res.end();
}
