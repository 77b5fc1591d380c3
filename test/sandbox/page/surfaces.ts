// The product's own messages, forms and Home tab, made by its builders, and a list of everything that the page can show.
import type { Block, Message, OpenView } from "#sandbox/slack/model.ts";
import { typesOf } from "#sandbox/slack/rules-check.ts";
import { inActions, inInput } from "#sandbox/slack/rules-elements.ts";
import type { Workspace } from "#sandbox/slack/workspace.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { help, runList } from "#src/adapters/slack/blocks/command-answers.ts";
import { healthReport } from "#src/adapters/slack/blocks/health-answer.ts";
import {
  changedModal,
  formView,
  readModal,
  messageModal,
} from "#src/adapters/slack/blocks/decision-modal.ts";
import { homeView } from "#src/adapters/slack/blocks/home-view.ts";
import { runForm } from "#src/adapters/slack/blocks/run-form.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { Approval, Decision } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { ChannelId, RunId, UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { OUTCOME } from "#src/domain/slot.ts";
import { endedRun, requestOf } from "../../adapters/slack/observed.ts";
import { anApproval, aNonce, aRun, NOON, TEAM, withApprovals } from "../../make/run.ts";
import { blocksWith, ELEMENTS, plain } from "./admitted.ts";
import { fillWorkspace, OPS } from "./stage.ts";
import { aQueuePage } from "../../make/queue.ts";

const APP = "U0COUNTERSIGN";
const [BEN, CAT] = [UserId("U0BEN"), UserId("U0CAT")];

export const DEPLOY = requestOf("Deploy billing-api 2026.11.3 to production", {
  id: "apr_1",
  action: "Deploy billing-api 2026.11.3 to production",
  status: "pending",
  environment: "production",
  plan: { replicas: 4, canary: true, regions: ["eu-central-1", "us-east-1"] },
});
const LONG = requestOf("Migrate the ledger", {
  id: "apr_2",
  action: "Migrate the ledger",
  script: Array.from({ length: 60 }, (_, i) => `alter table ledger_${i} add column currency text;`).join(
    "\n",
  ),
});

const input = "deploy billing-api 2026.11.3\nthen tell the on-call";
export const RUN: Run = {
  ...aRun({ input, requester: BEN, channel: ChannelId(OPS) }),
  creation: { type: "created", id: RunId("run_7Qk2"), at: NOON },
  seen: { status: "awaiting_approval", since: NOON, ended: null, lists: true, askedAt: NOON },
};
export const PENDING: Approval = { ...anApproval("apr_1"), request: DEPLOY };

const decided = (verdict: Decision["verdict"], reason: string, delivery: Delivery): Approval => ({
  ...PENDING,
  state: {
    type: "decided",
    decision: { verdict, reason, by: { team: TEAM, user: CAT }, at: NOON + 65_000, digest: DEPLOY.digest },
    delivery,
  },
});

const CARDS: readonly Approval[] = [
  { ...PENDING, request: LONG },
  {
    ...PENDING,
    version: 2,
    past: [
      {
        decision: {
          verdict: "approve",
          reason: "Looks right",
          by: { team: TEAM, user: CAT },
          at: NOON,
          digest: DEPLOY.digest,
        },
        cause: "request-changed",
        words: "",
      },
    ],
  },
  decided("deny", "Not before the freeze ends", { type: "sending", at: NOON, tries: 1, lost: false }),
  decided("approve", "Checked the plan", { type: "confirmed", at: NOON, stillListed: null }),
  decided("deny", "Not before the freeze ends.\nAsk again on Monday.", {
    type: "confirmed",
    at: NOON,
    stillListed: null,
  }),
  decided("approve", "", { type: "elsewhere", at: NOON, words: "HTTP 409: already resolved" }),
  { ...PENDING, state: { type: "closed", cause: "no-longer-listed", at: NOON } },
];

const OUTPUT = `# Deployed

**billing-api** 2026.11.3 runs in \`production\`.

- 4 replicas
  - all *healthy*
- [x] on-call told

> No errors in ten minutes.

\`\`\`sh
${Array.from({ length: 24 }, (_, i) => `kubectl rollout status deploy/billing-api-${i}`).join("\n")}
\`\`\`
`;

const ended = endedRun(RUN, {
  how: "succeeded",
  output: OUTPUT,
  extra: {},
  completedAt: "2026-11-20T12:04:20Z",
});
const unknown: Run = { ...RUN, creation: { type: "unknown", words: "reset", at: NOON, again: "asked" } };

const blocksOf = (held: { blocks: readonly object[] }): Block[] =>
  structuredClone([...held.blocks]) as Block[];
const viewOf = (view: object): OpenView["view"] => structuredClone(view) as OpenView["view"];

type Posted = { readonly text: string; readonly blocks: readonly object[] };
const post = (workspace: Workspace, said: Posted, more: Partial<Message> = {}): Message =>
  workspace.post({ channel: OPS, author: APP, text: said.text, blocks: blocksOf(said), ...more });

/** A run from its task to its output, with a card in every state. */
function tellRun(workspace: Workspace): Message {
  workspace.post({ channel: OPS, author: BEN, text: "Could someone look at the release? :eyes:" });
  workspace.post({ channel: OPS, author: BEN, text: "It is <https://example.com/r|2026.11.3>." });
  const opening = post(workspace, messageIn(RUN, "opening"));
  opening.reactions = { eyes: ["U0ANA", CAT], rocket: [BEN] };
  const thread = opening.ts;
  for (const approval of CARDS) post(workspace, approvalCard(RUN, approval), { thread, broadcast: true });
  const outcome = post(workspace, messageIn(ended, OUTCOME), { thread });
  workspace.files.set("F0OUT", file("F0OUT", "output.md", "output.md", Buffer.from(OUTPUT)));
  workspace.files.set("F0BIN", file("F0BIN", "core.dump", "What it left behind", Buffer.alloc(1_234_567)));
  post(workspace, { text: "", blocks: [] }, { thread, files: ["F0OUT", "F0BIN", "F0GONE"] });
  workspace.edit(outcome, {});
  post(workspace, messageIn(unknown, OUTCOME), { thread });
  post(workspace, approvalCard(RUN, PENDING), { thread, broadcast: true });
  return opening;
}

const file = (id: string, name: string, title: string, bytes: Uint8Array) => ({
  id,
  name,
  title,
  bytes,
  description: "",
  owner: APP,
});

const LINKED = {
  run: withApprovals(RUN, PENDING),
  link: `https://sandbox.example/archives/${OPS}/p1794487083000000`,
};

function tellPrivately(workspace: Workspace): void {
  const report = {
    ok: true,
    latencyMs: 12,
    fault: null,
    publicFault: null,
    says: { status: "ok", version: "1.4.2" },
  };
  const health = {
    version: "1.2.3",
    key: "accepted" as const,
    waiting: { decisions: { count: 0, oldestMs: 0, late: 0 }, starts: 0 },
    parts: [],
    service: report,
    gateway: { ...report, ok: false, fault: "It does not answer (ECONNREFUSED).", says: {} },
    poller: { watched: 3, inFlight: 0, service: { type: "answers" as const } },
    unreadable: { runs: 0, approvals: 0, unanswered: 0 },
    store: { ok: true, latencyMs: 2, fault: null },
    audit: { open: [], code: null, acknowledged: 0 },
    policy: "in force" as const,
    frozen: { everywhere: null, channels: 0 },
  };
  const only = { ephemeralFor: "U0ANA" };
  post(workspace, help("/agent"), only);
  post(
    workspace,
    runList({ title: "What waits for a decision:", none: "Nothing waits." }, [LINKED, LINKED], true),
    only,
  );
  post(workspace, healthReport(health, NOON), only);
  workspace.post({
    channel: OPS,
    author: APP,
    text: "There is no task. Type `/agent run` and a task.",
    ...only,
  });
}

const everyInput = (): Block[] =>
  typesOf(inInput).map((type, i) => ({
    type: "input",
    block_id: `i${i}`,
    label: plain(`A ${type}`),
    hint: plain("A hint"),
    element: { ...ELEMENTS[type]?.[0], type, action_id: "a" },
  }));
const everyBlock = (): Block[] =>
  Object.entries(blocksWith(typesOf(inActions))).map(([type, [sample]]) => ({
    ...structuredClone(sample),
    type,
    block_id: type,
  }));

const form = (view: object, more: Partial<OpenView> = {}) => ({
  path: `/as/U0ANA/${OPS}`,
  prepare: (workspace: Workspace) => {
    fillWorkspace(workspace);
    workspace.changeView(workspace.pushView("U0ANA", viewOf(view)), more);
  },
});

const everything = (blocks: () => Block[]): object => ({
  type: "modal",
  title: plain("Everything"),
  submit: plain("Send"),
  blocks: blocks(),
});

type Surface = { readonly prepare: (workspace: Workspace) => string | void; readonly path: string };

const approve = formView({ run: RUN, ticket: { saw: DEPLOY, verdict: "approve", nonce: aNonce() } });
const deny = formView({ run: RUN, ticket: { saw: LONG, verdict: "deny", nonce: aNonce() } });

/** `prepare` may return a thread, which is then opened. */
export const SURFACES: Readonly<Record<string, Surface>> = {
  "the start": { path: "/as/U0ANA/C0RELEASES", prepare: () => {} },
  "a channel with cards": { path: `/as/U0ANA/${OPS}`, prepare: (workspace) => void tellRun(workspace) },
  "a thread": { path: `/as/U0ANA/${OPS}`, prepare: (workspace) => tellRun(workspace).ts },
  "private answers": { path: `/as/U0ANA/${OPS}`, prepare: tellPrivately },
  "every block": {
    path: `/as/U0ANA/${OPS}`,
    prepare: (workspace) =>
      void post(workspace, { text: "all", blocks: [...everyBlock(), { type: "hologram" }] }),
  },
  "the form to approve": form(approve),
  "the form to deny a long request, with an error": form(deny, {
    errors: { [String((deny.blocks.at(-1) as Block).block_id)]: "Say why: a denial needs a reason." },
  }),
  "a form in trouble": form(approve, { trouble: "We had some trouble connecting. Try again?" }),
  "the form of what changed": form(changedModal(RUN, DEPLOY, LONG)),
  "the request in full": form(readModal(RUN, LONG)),
  "a refusal": form(
    messageModal(
      "Nothing was sent",
      "You started or watch this run, so someone else must decide.",
      "refusal:requester",
    ),
  ),
  "the form to start a run": form(runForm("", true)),
  "every field": form(everything(everyInput)),
  "the Home tab": {
    path: "/as/U0ANA/home",
    prepare: (workspace) => {
      const rows = {
        page: aQueuePage([LINKED.run], { link: LINKED.link }),
        own: [LINKED, LINKED],
        moreOwn: false,
      };
      workspace.publishHome("U0ANA", viewOf(homeView(rows, NOON)));
    },
  },
  "a Home tab with nothing": { path: "/as/U0ANA/home", prepare: () => {} },
};
