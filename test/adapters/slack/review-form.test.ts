// Review, pressed on the Home tab, where a person has no other answer than a window.

import { expect, test } from "vitest";
import type { View } from "@slack/types";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import {
  APPROVE_REASON_BLOCK,
  DENY_REASON_BLOCK,
  QUEUE_REVIEW,
  QUEUE_REVIEW_RUN,
  REVIEW_BLOCK,
  VERDICT_INPUT,
} from "#src/adapters/slack/names.ts";
import { onReview, onReviewSeveral, onReviewSubmit } from "#src/adapters/slack/review-form.ts";
import { PortError } from "#src/ports.ts";
import { idOf } from "../../make/message-id.ts";
import { ok } from "#src/domain/result.ts";
import { aNonce, APPROVER, REQUESTER, TEAM } from "../../make/run.ts";

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

const UNVERIFIED = {
  request: null,
  run: null,
  refusal: { type: "unverified", requester: REQUESTER },
} as const;
const UNKNOWN = { request: null, run: null, refusal: { type: "unknown" } } as const;

test.each([
  [
    "stays open if Slack's silence kept all of it from being recorded",
    { approve: 0 },
    [UNVERIFIED],
    "errors",
  ],
  ["shows the results if a part is recorded", { approve: 1 }, [UNVERIFIED], "update"],
  ["shows the results if something else is refused", { approve: 0 }, [UNVERIFIED, UNKNOWN], "update"],
] as const)("a form with several requests %s", async (_what, { approve }, refusals, answer) => {
  const deps = {
    team: TEAM,
    submitReview: async () => ok({ recorded: { approve, deny: 0 }, refused: refusals }),
  } as unknown as ListenerDeps;
  const nonce = aNonce();
  const values = {
    [`${REVIEW_BLOCK}${nonce}`]: { [VERDICT_INPUT]: { selected_option: { value: "approve" } } },
    [APPROVE_REASON_BLOCK]: {},
    [DENY_REASON_BLOCK]: {},
  };
  const view = { id: "V1", private_metadata: `${nonce} rule value 0`, state: { values }, blocks: [] };
  const payload = { user: { id: APPROVER, team_id: TEAM }, view };
  const said = await onReviewSubmit(deps, payload);
  expect(said).toMatchObject({ response_action: answer });
});
