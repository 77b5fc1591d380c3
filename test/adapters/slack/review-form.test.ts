// Review, pressed on the Home tab, where a person has no other answer than a window.

import { expect, test } from "vitest";
import type { View } from "@slack/types";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import { QUEUE_REVIEW, QUEUE_REVIEW_RUN } from "#src/adapters/slack/names.ts";
import { onReview, onReviewSeveral } from "#src/adapters/slack/review-form.ts";
import { PortError } from "#src/ports.ts";
import { idOf } from "../../make/message-id.ts";
import { APPROVER, TEAM } from "../../make/run.ts";

test.each([
  ["one request", onReview, QUEUE_REVIEW],
  ["several requests", onReviewSeveral, QUEUE_REVIEW_RUN],
])(
  "a window says that the form for %s was not opened, if the database fails",
  async (_what, press, action_id) => {
    const shown: (string | null)[] = [];
    const fails = () =>
      Promise.reject(new PortError("no answer", { applied: "no", retry: "later", code: "store_down" }));
    const deps = {
      team: TEAM,
      review: { open: fails, openSeveral: fails },
      quick: async (_method: string, { view }: { view: View }) => void shown.push(idOf(view)),
      log: { warn() {}, error() {} },
    } as unknown as ListenerDeps;
    await press(deps, {
      user: { id: APPROVER, team_id: TEAM },
      view: { id: "V1" },
      actions: [{ action_id, value: "value" }],
      trigger_id: "1.2.x",
    } as unknown as Parameters<typeof press>[1]);
    expect(shown).toEqual(["answer:nothing-opened"]);
  },
);
