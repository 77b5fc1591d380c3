import { describe, expect, test } from "vitest";
import type { Approval, ApprovalState } from "#src/domain/approval.ts";
import type { Upload } from "#src/domain/posted-message.ts";
import { MODAL_HOLDS_CHARS } from "#src/domain/text/request-text.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, requestSlot } from "#src/domain/slot.ts";
import { cardRenderKey } from "#src/domain/render-key.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { acceptBlocks } from "#sandbox/slack/rules-surface.ts";
import { anApproval, aNonce, NOON } from "../../../make/run.ts";
import { requestOf } from "../observed.ts";
import { expectMessage, objectsIn, wire } from "./oracle.ts";
import { CARD_PARTS, CARDS } from "./page/cards.ts";
import { CREATED, decided, PENDING, REQUEST, UP } from "./page/example.ts";
import { printedMessage } from "./printed.ts";

const cards = Object.entries(CARDS).flatMap(([state, examples]) =>
  examples.map((each) => ({ name: `${state} ${each.when}`, ...each })),
);

test.each(cards)("Slack accepts the card: $name", ({ run, approval }) =>
  expectMessage(approvalCard(run, approval)),
);

test.each(Object.entries(CARD_PARTS))("Slack accepts a card with the part %s", (_part, examples) => {
  for (const { run, approval } of examples) acceptBlocks(wire(approvalCard(run, approval).blocks));
});

const buttonsOf = (of: Run, approval: Approval): string[] =>
  objectsIn(wire(approvalCard(of, approval).blocks)).flatMap(({ type, text }) =>
    type === "button" ? [(text as { text: string }).text] : [],
  );

const CLAIM = "I'm looking at it";

test("only a pending card can be decided, only a held one undone, and every card has its details", () => {
  for (const { run, approval } of cards) {
    const isHeld = approval.state.type === "decided" && approval.state.delivery.type === "held";
    const decide = approval.state.type === "pending" ? ["Approve", "Deny"] : isHeld ? ["Undo", "Deny"] : [];
    const stop = approval.state.type === "pending" ? ["Stop", CLAIM] : [];
    expect(buttonsOf(run, approval)).toEqual([...decide, "Details", ...stop]);
  }
});

describe("a request too long for the card", () => {
  const long = { ...PENDING, request: requestOf("x".repeat(5_000), {}) };
  const tooLong = { ...PENDING, request: requestOf("x".repeat(MODAL_HOLDS_CHARS + 1), {}) };
  const withUpload = (upload: Upload): Run => ({ ...CREATED, uploads: { [requestSlot(tooLong)]: upload } });

  test("can be read in full", () =>
    expect(buttonsOf(CREATED, long)).toEqual(["Approve", "Deny", "Read in full", "Stop", CLAIM]));

  test.each<[string, Upload, string[]]>([
    ["planned", { type: "planned", notBefore: 0, tries: 0 }, []],
    ["shared but unsure", { type: "unsure", file: "F0", lookAt: NOON, tries: 1 }, []],
    ["refused", { type: "refused", words: "Slack refused (storage_limit_reached)" }, ["Details"]],
    ["there", { type: "up", file: "F0" }, ["Approve", "Deny", "Details", "Stop", CLAIM]],
  ])("that is also too long for a modal can be decided only with its file: %s", (_state, upload, buttons) => {
    expect(buttonsOf(withUpload(upload), tooLong)).toEqual(buttons);
  });

  test("that is also too long for a modal has windows that say to read its file, and not that they show all of it", () => {
    const run: Run = { ...withUpload({ type: "up", file: "F0" }), approvals: [tooLong] };
    expect(readModal(run, tooLong.request)).toMatchObject({ title: { text: "Shortened request" } });
    const ticket = { saw: tooLong.request, verdict: "approve", nonce: aNonce(), reading: true } as const;
    const readFirst = JSON.stringify(formView({ run, ticket }));
    expect(readFirst).toMatch(/Read request-[0-9a-f]{12}\.txt in the run's thread, then press Continue/);
    expect(readFirst).not.toContain("Read the whole request");
  });

  test("that fits a modal is there in full", () => {
    const run: Run = { ...CREATED, approvals: [long] };
    expect(readModal(run, long.request)).toMatchObject({ title: { text: "Full request" } });
    const ticket = { saw: long.request, verdict: "approve", nonce: aNonce(), reading: true } as const;
    expect(JSON.stringify(formView({ run, ticket }))).toContain(
      "Read the whole request, then press Continue.",
    );
  });

  test.each<[string, ApprovalState]>([
    ["denied", decided({ type: "confirmed", at: NOON, stillListed: null }, "deny").state],
    ["closed", { type: "closed", cause: "run-over", at: NOON }],
  ])("that is %s before its file is attached has its details, which promise no file", (_how, state) => {
    const over: Approval = { ...tooLong, state };
    const run: Run = { ...withUpload({ type: "planned", notBefore: 0, tries: 0 }), approvals: [over] };
    expect(buttonsOf(run, over)).toEqual(["Details"]);
    const details = JSON.stringify(readModal(run, over.request));
    expect(details).toContain("The service has the whole request.");
    expect(details).not.toMatch(/request-[0-9a-f]{12}\.txt/);
    const attached = { ...run, ...withUpload({ type: "up", file: "F0" }), approvals: [over] };
    expect(JSON.stringify(readModal(attached, over.request))).toMatch(
      /attached .* request-[0-9a-f]{12}\.txt/,
    );
  });
});

test("a card is drawn again if its file cannot be attached for another reason", () => {
  const tooLong = { ...PENDING, request: requestOf("x".repeat(MODAL_HOLDS_CHARS + 1), {}) };
  const keys = ["Slack's upload address did not answer", "Slack's upload address answered HTTP 413"].map(
    (words) =>
      cardRenderKey({ ...CREATED, uploads: { [requestSlot(tooLong)]: { type: "refused", words } } }, tooLong),
  );
  expect(new Set(keys).size).toBe(2);
});

test("each version of a card has its buttons under a block of its own", () => {
  const ids = [PENDING, { ...anApproval("apr_1"), request: REQUEST }].map((each) =>
    approvalCard(CREATED, each).blocks.find(({ type }) => type === "actions"),
  );
  expect(ids[0]?.block_id).not.toBe(ids[1]?.block_id);
});

test.each(["approve", "deny"] as const)(
  "a confirmed %s that the service still lists says so in its title",
  (verdict) => {
    const titleWith = (stillListed: boolean): string =>
      JSON.stringify(
        firstText(approvalCard(CREATED, decided({ type: "confirmed", at: NOON, stillListed }, verdict))),
      );
    expect(titleWith(true)).toContain("but still listed as pending");
    expect(titleWith(false)).not.toContain("listed");
  },
);

test("states that read differently have different keys, so that a stale card is redrawn", () => {
  const drawings = cards.map(({ name, run, approval }) => {
    const up = { type: "up", ts: "1.1", shows: "", sweepAt: null, notBefore: 0 };
    const posted = { ...run, posts: { [`card ${approval.id}`]: up } } as unknown as Run;
    // Who decided what and why never changes within one version, so it is not part of the key.
    return { name, key: cardRenderKey(posted, approval), title: firstText(approvalCard(run, approval)) };
  });
  for (const one of drawings)
    for (const other of drawings.filter(({ key }) => key === one.key))
      expect(titleWithoutVerdict(other.title), `${one.name} / ${other.name}`).toBe(
        titleWithoutVerdict(one.title),
      );
});

test("a decision whose answer was lost has a key of its own for each reason why it waits", () => {
  const lost = { type: "retry", notBefore: NOON, tries: 1, lost: true, why: "reset" } as const;
  const waits = { ...lost, notSent: true } as const;
  const cards = [
    lost,
    waits,
    { ...waits, why: "Slack does not answer." },
    { ...waits, heldBack: true } as const,
  ].map((delivery) => decided(delivery));
  expect(new Set(cards.map((each) => printedMessage(approvalCard(CREATED, each)))).size).toBe(cards.length);
  const run = { ...CREATED, posts: { [cardSlot(PENDING.id)]: UP } };
  expect(new Set(cards.map((each) => cardRenderKey(run, each))).size).toBe(cards.length);
});

const firstText = ({ blocks }: { readonly blocks: unknown }): unknown =>
  objectsIn(wire(blocks)).find(({ text }) => typeof text === "string");

const titleWithoutVerdict = (title: unknown): string =>
  JSON.stringify(title)
    .replace(/✅ Approved|⛔ Denied/, "decided")
    .replace(/state:(?:approved|denied):/, "state:decided:")
    .replace(/Approval|Denial/, "decision");

test("a request under an id that the service has used before is called new", () => {
  const again: Approval = {
    ...anApproval("apr_1 (2)"),
    serviceId: PENDING.serviceId,
    request: REQUEST,
  };
  const both: Run = {
    ...CREATED,
    approvals: [decided({ type: "confirmed", at: NOON, stillListed: null }), again],
  };
  expect(printedMessage(approvalCard(both, again))).toContain("This is a new request.");
  expect(printedMessage(approvalCard(both, PENDING))).not.toContain("This is a new request.");
});
