// The ids of runs are links if the operators set a page of runs (RUN_URL).

import { describe, expect, test } from "vitest";
import { acceptBlocks } from "#sandbox/slack/rules-surface.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { runRow } from "#src/adapters/slack/blocks/command-answers.ts";
import { changedModal, formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { type Deployment, runIdElement, runNote, UNNAMED } from "#src/adapters/slack/blocks/deployment.ts";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import { privateNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import { severalReceipts } from "#src/adapters/slack/blocks/receipts.ts";
import { reviewView } from "#src/adapters/slack/blocks/review-modal.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { RunId } from "#src/domain/ids.ts";
import { type Run, runId } from "#src/domain/run.ts";
import { OPENING } from "#src/domain/slot.ts";
import { anApproval, aTicket, aWatchedRun, withApprovals } from "../../../make/run.ts";
import { expectInert, wire } from "./oracle.ts";
import { REPORTED } from "./page/private.ts";

const linked: Deployment = { name: "", runUrl: "https://agents.example/runs/{run}?tab=log" };
const urlOf = (id: string): unknown => ({ url: null, ...runIdElement(id, linked) }).url;

describe("the id of a run", () => {
  test("is a link if the operators set a page of runs, and otherwise the id alone", () => {
    expect(runIdElement("run_7", linked)).toEqual({
      type: "link",
      url: "https://agents.example/runs/run_7?tab=log",
      text: "run_7",
      style: { code: true },
    });
    expect(runIdElement("run_7", UNNAMED)).toEqual({ type: "text", text: "run_7", style: { code: true } });
  });

  test.for([
    ["run 7/../../admin?x=1#y", "run%207%2F..%2F..%2Fadmin%3Fx%3D1%23y"],
    ["$&$1{run}", "%24%26%241%7Brun%7D"],
    ["a|b>c<d", "a%7Cb%3Ec%3Cd"],
    ["it's(*)~!", "it%27s%28%2A%29%7E%21"],
    ["läuft", "l%C3%A4uft"],
  ])("is encoded in the URL: %s", ([id = "", encoded = ""]) => {
    expect(urlOf(id)).toBe(`https://agents.example/runs/${encoded}?tab=log`);
  });

  test.for([
    [".", "another page"],
    ["..", "another page"],
    ["run\u202E7", "an invisible character"],
    ["xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx", "a secret, which the text masks"],
    ["\uD800", "half a character"],
    ["é".repeat(512), "too long for Slack"],
  ])("is not a link when it is %s", ([id = ""]) => {
    expect(urlOf(id)).toBeNull();
  });

  test.for(["run_7", "7f3a-41.b"])("is a link in small print too: %s", (id) => {
    expect(JSON.stringify(runNote(id, linked, "more"))).toContain(
      `Run <https://agents.example/runs/${id}?tab=log|${id}>`,
    );
  });

  test.for(["_run_", "*run*", "a:tada:b", "a|b", "<!channel>", "x".repeat(61), "ру"])(
    "is literal text in small print if it could be markup: %s",
    (id) => {
      expect(JSON.stringify(runNote(id, linked))).not.toContain("mrkdwn");
    },
  );

  test("is drawn so that Slack accepts it", () => {
    const run: Run = {
      ...aWatchedRun(),
      creation: { type: "created", id: RunId("run/7 <!channel>"), at: 0 },
    };
    const { blocks } = messageIn(run, OPENING, linked);
    const url = "https://agents.example/runs/run%2F7%20%3C%21channel%3E?tab=log";
    acceptBlocks(wire(blocks));
    expectInert(blocks, [url]);
    expect(JSON.stringify(blocks)).toContain(url);
  });
});

describe("with a page of runs, the id of the run is a link", () => {
  const approval = anApproval();
  const run = withApprovals(aWatchedRun(), approval);
  const ticket = aTicket(run, approval);
  const { request } = approval;
  const few = { type: "nobody-can-approve", approval: approval.id, able: 0, needs: 1, grows: false } as const;
  test.for([
    ["in the opening", messageIn(run, OPENING, linked)],
    ["on a card", approvalCard(run, approval, linked)],
    ["in the form", formView({ run, ticket }, linked)],
    ["in the form that is read first", formView({ run, ticket: { ...ticket, reading: true } }, linked)],
    [
      "in the form that asks for the verdict",
      reviewView({ run, ticket: { ...ticket, choice: true } }, linked),
    ],
    ["in the full request", readModal(run, request, linked)],
    ["in the form that says what changed", changedModal(run, null, request, linked)],
    ["in lists, in the status and on Home", { blocks: [runRow({ run, link: null, deployment: linked })] }],
    ["in private notices", privateNotice(few, run, linked)],
  ] as const)("%s", ([, drawn]) => {
    expect(JSON.stringify(drawn)).toContain(`https://agents.example/runs/${runId(run)}?tab=log`);
  });

  const { receipt, facts } = REPORTED;
  test.for(["receipt", "dispute", "answered", "expired"] as const)("in the notification %s", (kind) => {
    const drawn = notificationMessage({ ...receipt, kind }, facts, { deployment: linked });
    expect(urlsIn(drawn)).toContain("https://agents.example/runs/run_7?tab=log");
    acceptBlocks(wire(drawn.blocks));
  });

  test("in several receipts", () => {
    const drawn = severalReceipts([{ receipt, facts, link: null }], linked);
    expect(urlsIn(drawn)).toContain("https://agents.example/runs/run_7?tab=log");
  });
});

const urlsIn = (drawn: unknown): readonly (string | undefined)[] =>
  [...JSON.stringify(drawn).matchAll(/"url":"([^"]*)"/g)].map(([, url]) => url);
