import { expect, test } from "vitest";
import type { Answer, Call } from "#src/adapters/slack/clients.ts";
import { whoAmI } from "#src/adapters/slack/reach-slack.ts";
import { PortError } from "#src/ports.ts";
import { failureOf } from "./failing.ts";

const SELF = { team_id: "T0ACME", user_id: "U0COUNTERSIGN", bot_id: "B0COUNTERSIGN", team: "Acme" };

function stage(...answers: readonly (() => Answer)[]) {
  const logged: unknown[] = [];
  let asked = 0;
  const call: Call = async () => {
    asked += 1;
    return (answers[asked - 1] ?? answers.at(-1) ?? (() => SELF))();
  };
  const write = (...words: unknown[]): void => void logged.push(words);
  const log = { debug: write, info: write, warn: write, error: write };
  return { who: whoAmI(call, log), logged, asked: () => asked };
}

const failing =
  (code: string, retry: "later" | "never" = "later") =>
  (): never => {
    throw new PortError("no", { applied: "no", retry, code });
  };

test("Slack says who we are", async () => {
  expect(await stage(() => SELF).who).toEqual({
    team: "T0ACME",
    user: "U0COUNTERSIGN",
    bot: "B0COUNTERSIGN",
    enterprise: null,
    teamName: "Acme",
  });
});

test.each([
  "invalid_auth",
  "not_authed",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "not_allowed_token_type",
])("a token that Slack refuses (%s) ends the start with one line, at the first attempt", async (code) => {
  const { who, asked } = stage(failing(code));
  const error = await failureOf(who);
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toMatch(new RegExp(`SLACK_BOT_TOKEN \\(${code}\\)`));
  expect(String(error)).not.toContain("\n");
  expect(asked()).toBe(1);
});

test("a Slack that can't be reached is tried again, and that is logged", async () => {
  const { who, asked, logged } = stage(failing("ECONNREFUSED"), () => SELF);
  expect(await who).toMatchObject({ team: "T0ACME" });
  expect(asked()).toBe(2);
  expect(logged).toHaveLength(1);
});

test("an answer without ids ends the start, instead of a retry for ever", async () => {
  const { who, asked } = stage(() => ({ ...SELF, team_id: "nonsense" }));
  expect(await failureOf(who)).toBeInstanceOf(Error);
  expect(asked()).toBe(1);
});
