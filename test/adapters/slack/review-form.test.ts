// Review, pressed on the Home tab, where a person has no other answer than a window.

import { expect, test } from "vitest";
import type { View } from "@slack/types";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import {
  APPROVE_REASON_BLOCK,
  DENY_REASON_BLOCK,
  HOME_START,
  QUEUE_REVIEW,
  QUEUE_REVIEW_RUN,
  REVIEW_BLOCK,
  VERDICT_INPUT,
} from "#src/adapters/slack/names.ts";
import { onReview, onReviewSeveral, onReviewSubmit } from "#src/adapters/slack/review-form.ts";
import { UNNAMED } from "#src/adapters/slack/blocks/deployment.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";
import { createOnce } from "#src/adapters/slack/click-memory.ts";
import { openFormFromHome } from "#src/adapters/slack/home-and-queue.ts";
import { ApprovalId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { ok } from "#src/domain/result.ts";
import { cardSlot } from "#src/domain/slot.ts";
import { PortError } from "#src/ports.ts";
import { failure } from "../../make/bot.ts";
import { createHandClock } from "../../make/clock.ts";
import { idOf } from "../../make/message-id.ts";
import { aQueue } from "../../make/queue.ts";
import { anApproval, aNonce, APPROVER, aWatchedRun, REQUESTER, TEAM, withApprovals } from "../../make/run.ts";

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

type Sent = { readonly method: string; readonly channel?: string; readonly id: string | null };

/** A person on the Home tab. Slack opens no window for them. */
function withoutWindows() {
  const sent: Sent[] = [];
  const down = new PortError("no answer", { applied: "no", retry: "later", code: "store_down" });
  const fails = () => Promise.reject(down);
  const deps = {
    team: TEAM,
    nonce: aNonce,
    review: { open: fails, openSeveral: fails },
    once: createOnce(),
    deployment: UNNAMED,
    quick: async (method: string, said: { channel?: string; blocks?: Message["blocks"] }) => {
      if (method === "views.open") throw failure("expired_trigger_id");
      sent.push({ method, ...said, id: idOf({ blocks: said.blocks ?? [] }) });
      return { ok: true, ts: "1.1" };
    },
    log: { warn() {}, error() {} },
  } as unknown as ListenerDeps;
  return { deps, sent };
}

const pressedAtHome = (action_id: string) =>
  ({
    user: { id: APPROVER, team_id: TEAM },
    view: { id: "V1", type: "home" },
    actions: [{ action_id, value: "value" }],
    trigger_id: "1.2.x",
  }) as unknown as Parameters<typeof onReview>[1];

test.each([
  ["Review", onReview, QUEUE_REVIEW, "answer:nothing-opened"],
  ["Review together", onReviewSeveral, QUEUE_REVIEW_RUN, "answer:nothing-opened"],
  ["Start a run", openFormFromHome, HOME_START, "answer:opening-not-confirmed"],
] as const)(
  "a press of %s for which Slack opens no window is answered in a direct message",
  async (...one) => {
    const [, press, action, id] = one;
    const { deps, sent } = withoutWindows();
    await press(deps, pressedAtHome(action) as never);
    expect(sent).toMatchObject([{ method: "chat.postMessage", channel: APPROVER, id }]);
  },
);

test("the form for several requests opens with the links that Slack gives at once", async () => {
  const clock = createHandClock();
  const approvals = [anApproval(), anApproval(), anApproval()];
  const posts = approvals.map(({ id }, at) => [cardSlot(id), { type: "up", ts: `${at}.1` }] as const);
  const run = { ...withApprovals(aWatchedRun(), ...approvals), posts: Object.fromEntries(posts) };
  const [first, ...apart] = aQueue([run as unknown as Run]).yours;
  const opened = { bundle: aNonce(), forms: [{ item: first, nonce: aNonce() }], apart, later: [] };
  const silent = new Map<string, { ts: string }>(posts).get(
    cardSlot(apart[1]?.approval.id ?? ApprovalId("")),
  );
  let view: unknown = null;
  const deps = {
    team: TEAM,
    clock,
    review: { openSeveral: async () => ok({ ...opened, kind: "run", value: "value", last: null }) },
    once: createOnce(),
    deployment: UNNAMED,
    quick: (method: string, asked: { view?: View; message_ts?: string }) => {
      if (method === "views.open") view = asked.view;
      return asked.message_ts === silent?.ts
        ? new Promise(() => {})
        : Promise.resolve({ permalink: "https://acme.slack.com/1" });
    },
  } as unknown as ListenerDeps;
  const opening = onReviewSeveral(deps, pressedAtHome(QUEUE_REVIEW_RUN));
  await clock.pass(300);
  expect(JSON.stringify(view)).toContain("https://acme.slack.com/1");
  await opening;
});

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
    clock: createHandClock(),
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
