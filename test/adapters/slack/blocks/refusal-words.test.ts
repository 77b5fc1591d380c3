import { expect, test } from "vitest";
import type { Refusal } from "#src/domain/authorization.ts";
import { STOP_REASON } from "#src/domain/brake.ts";
import { ApprovalId, ChannelId, GroupId, UserId } from "#src/domain/ids.ts";
import { BUILT_IN_RULE, type Rule } from "#src/domain/policy/policy.ts";
import type { NoticeContent } from "#src/domain/notice.ts";
import { messageModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { privateNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import {
  commandRefusal,
  commandRefusalPlain,
  commandRefusalWords,
} from "#src/adapters/slack/blocks/command-refusal-words.ts";
import { reviewedModal } from "#src/adapters/slack/blocks/reviewed-modal.ts";
import { refusalPlain, refusalTitle, refusalWords } from "#src/adapters/slack/blocks/refusal-words.ts";
import { refusalReason } from "#src/adapters/slack/blocks/queue-reasons.ts";
import { brakeRefusal } from "#src/adapters/slack/blocks/brake-refusal-words.ts";
import { APPROVER, aRun } from "../../../make/run.ts";
import { always, anyText } from "./hostile.ts";
import { expectMessage, expectSeen, expectView } from "./oracle.ts";
import { BEN, CLEO, decisionOf } from "./page/example.ts";
import { COMMAND_REFUSALS, REFUSALS } from "./page/refusals.ts";

const NAMED: Rule = {
  ...BUILT_IN_RULE,
  name: "<!here> `production`",
  approvers: { users: [APPROVER], groups: [GroupId("S0ONCALL")], channels: [ChannelId("C0OPS")] },
};

const refusals = Object.values(REFUSALS).flat();
const noRuns = Object.values(COMMAND_REFUSALS).flat();

const approval = ApprovalId("apr_1");
const noticesWith = (words: string): NoticeContent[] => [
  { type: "cannot-post", words, code: "not_in_channel" },
  { type: "cannot-post", words, code: "is_archived" },
  { type: "cannot-post", words, code: "msg_too_long" },
  { type: "decision-void", approval, cause: "request-changed" },
  { type: "decision-void", approval, cause: "voter-may-not" },
  { type: "decision-void", approval, cause: "rule-changed" },
  { type: "decision-void", approval, cause: "others-needed" },
  { type: "decision-stopped", approval },
  { type: "decision-unconfirmed", approval },
  { type: "decision-still-listed", approval },
  { type: "decision-void", approval, cause: "no-longer-listed" },
  { type: "decision-void", approval, cause: "run-missing" },
  { type: "decision-void", approval, cause: "run-over" },
  { type: "decision-refused", approval, words },
  { type: "decision-elsewhere", approval, words },
];

test("the title of a refusal says that someone else is on it only if someone is", () => {
  expect(refusalTitle({ type: "not-claimer", by: BEN })).toContain("Someone else");
  expect(refusalTitle({ type: "not-claimer", by: null })).toContain("No one");
});

test("a refusal fits into a modal and into a field's error", () => {
  for (const each of refusals) {
    expectView(messageModal(refusalTitle(each), refusalWords(each), `refusal:${each.type}`));
    expect(refusalPlain(each)).not.toMatch(/[<>*]/);
  }
});

test("the error beside a field of the start form has no markup and no entities", () => {
  const fields = { missing: ["R&D <lead>"], wrong: [], unknown: [] };
  const unfinished = commandRefusalPlain({ type: "saved-task-unfinished", ...fields }, "/agent");
  expect(unfinished).toContain("Missing: R&D <lead>.");
  const wrong = Array.from({ length: 9 }, (_, nth) => ({
    label: `<f${nth}>`,
    choices: ["R&D", "x".repeat(900)],
  }));
  const many = { type: "saved-task-unfinished", missing: [], wrong, unknown: [] } as const;
  expect(commandRefusalPlain(many, "/agent")).toContain("<f2> must be one of these: R&D, x");
  expect(commandRefusalPlain(many, "/agent")).toContain("6 more fields");
  expect(commandRefusalWords(many, "/agent")).not.toMatch(/<f|R&D/);
  expectMessage(commandRefusal(many, "/agent"));
  for (const each of [...COMMAND_REFUSALS.frozen, ...COMMAND_REFUSALS["hidden-channel"]])
    expect(commandRefusalPlain(each, "/agent")).not.toMatch(/[<>*`]|&\w+;/);
});

test("a person who may have started the run, or may watch it, is not told that they did", () => {
  const refusal = { type: "requester", rule: BUILT_IN_RULE, perhaps: true } as const;
  for (const words of [refusalWords(refusal), refusalPlain(refusal), brakeRefusal(refusal, BEN, "lift").text])
    expect(words).toMatch(/You may have started (this|the) run, or you watched it before/);
});

test("the row of a request in the queue says plainly what is certain of its reader, and hedges the rest", () => {
  const refusal = { type: "requester", rule: BUILT_IN_RULE } as const;
  expect(refusalReason(refusal, "started")).toBe("you asked for this run");
  expect(refusalReason(refusal, "adopted")).toBe("you watch this run");
  for (const origin of ["started", "adopted"] as const)
    expect(refusalReason({ ...refusal, perhaps: true }, origin)).toBe(
      "you may have started this run, or watched it before",
    );
});

test("the words about the requester of a run are also true of a person who watches it", () => {
  const requester = { type: "requester", rule: BUILT_IN_RULE } as const;
  const others: Refusal[] = [
    { type: "not-asked", requester: CLEO },
    { type: "cannot-take-over", to: CLEO, why: "requester" },
  ];
  const all = [
    ...[requester, ...others].flatMap((each) => [refusalWords(each, BEN), refusalPlain(each)]),
    ...(["stop", "lift"] as const).map((act) => brakeRefusal(requester, BEN, act).text),
  ];
  for (const words of all) {
    expect(words).toMatch(/start(ed|s) or watch/);
    expect(words).not.toMatch(/asked for/);
  }
});

test("an earlier decision is not said to count, since the service may have refused it", () => {
  for (const each of REFUSALS["already-decided"])
    for (const words of [refusalWords(each), refusalPlain(each)]) expect(words).not.toContain("counts");
  const [byPolicy] = REFUSALS["already-decided"].filter(
    (each) => each.type === "already-decided" && each.decision.by === null,
  );
  expect(byPolicy === undefined ? "" : refusalPlain(byPolicy)).toContain("This was already denied.");
});

test("a form of several requests claims nothing of earlier presses, and tells a person of their own decisions", () => {
  const refused = ["approve", "deny"].map((verdict) => {
    const decision = decisionOf(verdict === "approve" ? "approve" : "deny", "");
    const refusal = { type: "already-decided", decision, settled: false } as const;
    return { request: null, run: null, approval: null, refusal };
  });
  const results = { recorded: { approve: 0, deny: 0 }, refused };
  const own = JSON.stringify(reviewedModal({ ...results, asker: BEN }, null));
  expect(own).toContain("You already approved this");
  expect(own).toContain("You already denied this");
  const others = JSON.stringify(reviewedModal({ ...results, asker: CLEO }, null));
  expect(others).not.toContain("You already");
  for (const words of [own, others]) {
    expect(words).toContain("This press recorded nothing new");
    expect(words).not.toMatch(/nothing was (recorded|sent)/i);
  }
});

test("a person whom Slack could not confirm may have decided before, so the refusal is about this press only", () => {
  for (const each of REFUSALS.unverified)
    for (const words of [refusalWords(each), refusalPlain(each)]) {
      expect(words).not.toContain("was sent");
      expect(words).toContain("this press did not count for this request");
    }
});

test("a person whose request a stop denied is not told to lift the stop, which may be over", () => {
  const decision = { ...decisionOf("deny", STOP_REASON, null), stoppedBy: CLEO };
  const words = refusalWords({ type: "already-decided", decision, settled: true }, BEN);
  expect(words).toContain("stopped this run, so this was denied");
  expect(words).not.toMatch(/lift/i);
  expect(words).toContain("the agent must ask again");
});

test("a person who may not decide is not sent to others who may not either", () => {
  const approvers = { users: [APPROVER, BEN, CLEO], groups: [GroupId("S0TEMPS")], channels: [] };
  const except = { users: [APPROVER], groups: [GroupId("S0TEMPS")], channels: [] };
  const words = refusalWords(
    { type: "not-approver", rule: { ...NAMED, approvers, except }, requester: BEN },
    APPROVER,
  );
  expect(words.match(/<[^>]+>/g)).toEqual([`<@${CLEO}>`]);
});

test("a person who may not decide is told who can, without the requester", () => {
  const words = refusalWords({ type: "not-approver", rule: NAMED });
  for (const who of [`<@${APPROVER}>`, "<!subteam^S0ONCALL>", "<#C0OPS>"]) expect(words).toContain(who);
  expect(refusalWords({ type: "requester", rule: NAMED }, APPROVER)).not.toContain(`<@${APPROVER}>`);
  const many = Array.from({ length: 30 }, (_, nth) => UserId(`U0NUMBER${nth}`));
  const long = refusalWords({
    type: "not-approver",
    rule: { ...NAMED, approvers: { users: many, groups: [], channels: [] } },
  });
  expect(long.match(/<@/g)).toHaveLength(20);
  expect(long).toContain("10 more");
});

test("a person who may not lift a stop is told who can lift it, not who can decide", () => {
  const refused = (refusal: Refusal, act: "stop" | "lift" = "lift") => brakeRefusal(refusal, CLEO, act);
  const { heading, text } = refused({ type: "requester", rule: NAMED });
  expect(heading).toBe("You can't lift this stop");
  for (const words of ["can lift its stop", "You started or watch the run", `<@${APPROVER}>`])
    expect(text).toContain(words);
  expect(text).not.toContain("Nothing was sent");
  expect(refused({ type: "guest" }, "stop").heading).toBe("You can't stop this run");
  expect(refused({ type: "closed", why: "run-over" }, "stop").heading).toBe("The run is not stopped");
  for (const each of refusals)
    for (const act of ["stop", "lift"] as const) {
      const { heading, text } = brakeRefusal(each, BEN, act);
      expectView(messageModal(heading, text, `refusal:${each.type}`));
    }
});

test("refusals contain no tokens but our own people, channels and times", () => {
  const own =
    /<@U0(?:APPROVER|CLEO)>|<!subteam\^S0ONCALL>|<#C0OPS>|<!date\^\d+\^\{date_short_pretty\} at \{time\}\|[^<>|]+>/g;
  const texts = [
    ...refusals.flatMap((each) => [refusalWords(each), refusalWords(each, BEN)]),
    ...noRuns.map((each) => commandRefusalWords(each, "/agent")),
  ];
  for (const each of texts) {
    expect(each.replace(own, "").replace(/&(amp|lt|gt);/g, "")).not.toMatch(/[<>&]/);
    expectSeen(each);
  }
});

test("in private notices, the service's words are only where Slack reads no markup", () => {
  always(anyText, (words) => {
    for (const each of noticesWith(words)) expectMessage(privateNotice(each, aRun()));
  });
});

test("a form whose part only has other people now is refused with words that say so", () => {
  const people = { groups: [], channels: [] };
  const rule = (...users: readonly UserId[]) => ({
    needs: 1,
    holdMs: 0,
    parts: [{ name: "Security", users, ...people }],
  });
  const words = refusalWords({ type: "rule-changed", was: rule(BEN), now: rule(BEN, CLEO) });
  expect(words).toContain("The people of a part have changed since you opened this form");
  expect(words).not.toMatch(/Before|Now/);
});
