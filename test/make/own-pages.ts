// The bot's own pages, as a probe requests them.

import { expect } from "vitest";
import type { Stage } from "./world.ts";
import { eventually } from "./eventually.ts";

export async function ready(
  world: Stage,
): Promise<{ status: number; says: string; checks: Record<string, string> }> {
  const response = await fetch(`${world.url()}/readyz`);
  const body = (await response.json()) as { status: string; checks: Record<string, string> };
  return { status: response.status, says: body.status, checks: body.checks };
}

/** Requests the page again and again, like a probe, until the part says this. */
export async function becomes(
  world: Stage,
  part: string,
  says: RegExp,
): Promise<{ status: number; says: string }> {
  return eventually(async () => {
    const answer = await ready(world);
    expect(answer.checks[part]).toMatch(says);
    return answer;
  });
}
