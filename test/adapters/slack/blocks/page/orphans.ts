// Messages after an older copy was restored.

import type { MessageId } from "#src/adapters/slack/blocks/message-id.ts";
import { orphanMessage } from "#src/adapters/slack/blocks/orphan-message.ts";
import { MessageTs, RunId } from "#src/domain/ids.ts";
import type { Orphan } from "#src/domain/orphan.ts";
import { NOON } from "../../../../make/run.ts";
import { DEPLOYMENT, type Example, LINK } from "./example.ts";

const drawn = (when: string, facts: Partial<Orphan>, link: string | null = null): Example => {
  const orphan = {
    kind: "card",
    about: "High risk: Deploy billing-api to production",
    runId: RunId("run_7"),
    isFollowed: true,
    current: null,
    copiedAt: NOON,
    ...facts,
  } as const;
  return { when, drawn: orphanMessage(orphan, { command: "/agent", link, deployment: DEPLOYMENT }) };
};

export const ORPHANS: Record<Extract<MessageId, `orphan:${string}`>, readonly Example[]> = {
  "orphan:card": [
    drawn("the request has a new card", { current: MessageTs("1.1") }, LINK),
    drawn("the request does not wait any more", {}),
    drawn("the run is no longer followed", { isFollowed: false }),
    drawn("it was pressed, and the copy bears no time", { copiedAt: null, runId: null }),
  ],
  "orphan:opening": [
    drawn("", { kind: "opening", isFollowed: false }),
    drawn("the run has another thread", { kind: "opening", current: MessageTs("1.1") }, LINK),
  ],
  "orphan:other": [drawn("", { kind: "other" })],
};
