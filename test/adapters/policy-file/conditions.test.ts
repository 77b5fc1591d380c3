// Conditions on numbers, groups and hours as a policy file writes them, what is refused, and what the linter finds.

import { describe, expect, test } from "vitest";
import { readPolicy } from "#src/adapters/policy-file/read-policy.ts";
import { doubtsAbout } from "../../make/policy.ts";

const rule = (name: string, when: string): string =>
  `  - name: ${name}\n    when: ${when}\n    approvers: { users: [U0ANA, U0BEN] }\n`;
const REST = "  - name: rest\n    approvers: { users: [U0ANA, U0BEN] }\n    quorum: 2\n";
const OFFICE = '{ tz: UTC, days: mon-fri, from: "08:00", to: "20:00" }';

function whenOf(text: string) {
  const read = readPolicy(`rules:\n${rule("a", text)}${REST}`, "v");
  return read.ok ? read.value.rules[0]?.when : read.error.map(({ says }) => says);
}
const doubts = async (text: string): Promise<string[]> =>
  (await doubtsAbout(`rules:\n${text}`)).map(({ says }) => says);

describe("a policy file", () => {
  test("may name requesters by id and by group", () => {
    expect(whenOf("{ requester: { users: [U0ANA], groups: [S0SRE] } }")).toMatchObject({
      requesters: ["U0ANA"],
      requesterGroups: ["S0SRE"],
    });
    expect(whenOf("{ requester: U0ANA }")).toMatchObject({ requesters: ["U0ANA"] });
  });

  test("may compare numbers, and takes a text with a backslash literally", () => {
    expect(whenOf(`{ field: { amount: ["> 1000", '\\> 1000', "1000"] } }`)).toMatchObject({
      fields: { amount: [{ bounds: [{ op: ">", than: "1000" }] }, "> 1000", "1000"] },
    });
  });

  test("may name hours and their opposite, one or several", () => {
    expect(whenOf(`{ hours: ${OFFICE}, outside-hours: [${OFFICE}] }`)).toMatchObject({
      hours: [{ tz: "UTC", from: "08:00" }],
      outsideHours: [{ to: "20:00" }],
    });
  });

  test.each([
    ["{ requester: {} }"],
    ["{ requester: { groups: [] } }"],
    ["{ requester: { channels: [C0OPS] } }"],
    ['{ field: { amount: "> 1,000" } }'],
    ['{ field: { amount: "> 5 and < 1" } }'],
    ['{ field: { amount: [5, "<b>"] } }'],
    ['{ hours: { tz: Mars/Base, from: "08:00", to: "20:00" } }'],
    ["{ hours: [] }"],
  ])("is refused with %s", (when) => {
    expect(Array.isArray(whenOf(when))).toBe(true);
  });
});

describe("the linter", () => {
  test.each<[string, string, RegExp]>([
    [
      "a comparison within one before it",
      rule("a", '{ field: { n: "> 1" } }') + rule("b", '{ field: { n: "> 5" } }') + REST,
      /"b" never applies/,
    ],
    [
      "a person of an earlier list with groups",
      rule("a", "{ requester: { users: [U0ANA], groups: [S0X] } }") +
        rule("b", "{ requester: U0ANA }") +
        REST,
      /"b" never applies/,
    ],
    [
      "hours that never occur",
      rule("a", `{ hours: ${OFFICE}, outside-hours: ${OFFICE} }`) + REST,
      /"a" never applies/,
    ],
    [
      "hours within earlier hours",
      rule("a", `{ hours: ${OFFICE} }`) +
        rule("b", '{ hours: { tz: UTC, days: mon, from: "09:00", to: "10:00" } }') +
        REST,
      /"b" never applies/,
    ],
    [
      "hours that earlier hours cover together",
      rule("a", `{ hours: ${OFFICE} }`) + rule("b", `{ outside-hours: ${OFFICE} }`) + REST,
      /"rest" never applies: "a" and "b" come before it/,
    ],
    [
      "a gap between hours",
      rule("a", `{ hours: ${OFFICE} }`) + rule("b", '{ hours: { tz: UTC, from: "20:00", to: "06:00" } }'),
      /leave a gap between their hours, from \w+day/,
    ],
  ])("finds %s", async (_name, text, says) => {
    expect(await doubts(text)).toContainEqual(expect.stringMatching(says));
  });

  test("accepts hours that leave no gap, and a laxer rule for working hours", async () => {
    const lax = rule("day", `{ hours: ${OFFICE} }`);
    expect(await doubts(lax + rule("night", `{ outside-hours: ${OFFICE} }`))).toEqual([]);
    expect(await doubts(lax + REST)).toEqual([]);
    expect(await doubts(rule("small", '{ field: { amount: "< 100" } }') + REST)).toEqual([]);
  });
});

describe("approvers in a policy file", () => {
  const read = (approvers: string) => {
    const policy = readPolicy(`rules:\n  - name: a\n    approvers: ${approvers}\n`, "v");
    return policy.ok ? policy.value.rules[0] : policy.error.map(({ says }) => says);
  };

  test("may consist of parts, each of which must approve, and then imply the quorum", () => {
    expect(
      read("{ all-of: [{ name: Ops, groups: [S0SRE] }, { users: [U0ANA], groups: [S0SEC] }] }"),
    ).toMatchObject({
      approvers: { users: ["U0ANA"], groups: ["S0SRE", "S0SEC"], channels: [] },
      parts: [
        { name: "Ops", groups: ["S0SRE"] },
        { users: ["U0ANA"], groups: ["S0SEC"] },
      ],
      needs: 2,
      mention: { users: ["U0ANA"], groups: ["S0SRE", "S0SEC"] },
      except: null,
    });
  });

  test('may have exceptions, also with "anyone"', () => {
    expect(read("{ anyone: true, except: { groups: [S0TEMPS] } }")).toMatchObject({
      approvers: "anyone",
      except: { users: [], groups: ["S0TEMPS"], channels: [] },
      mention: { users: [], groups: [] },
    });
    expect(read("{ users: [U0ANA, U0BEN], groups: [S0SRE], except: { users: [U0ANA] } }")).toMatchObject({
      approvers: { groups: ["S0SRE"] },
      except: { users: ["U0ANA"] },
      mention: { users: ["U0BEN"], groups: ["S0SRE"] },
    });
  });

  test.each([
    ["{ all-of: [{ groups: [S0SRE] }] }"],
    ["{ all-of: [{ groups: [S0SRE] }, {}] }"],
    ["{ all-of: [{ groups: [S0SRE] }, { groups: [S0SEC] }], groups: [S0SRE] }"],
    ["{ anyone: true, users: [U0ANA] }"],
    ["{ anyone: false }"],
    ["{ except: { users: [U0ANA] } }"],
    ["{ anyone: true, except: {} }"],
    ["{ all-of: [{ name: '<!channel>', groups: [S0SRE] }, { groups: [S0SEC] }] }"],
  ])("are refused: %s", (approvers) => {
    expect(Array.isArray(read(approvers))).toBe(true);
  });

  test("who cannot fill every part are found by the linter", async () => {
    const parts =
      "{ all-of: [{ users: [U0ANA, U0BEN] }, { name: Security, users: [U0CLEO] }], except: { users: [U0CLEO] } }";
    expect(await doubts(`  - name: a\n    approvers: ${parts}\n`)).toContainEqual(
      expect.stringMatching(/can never be satisfied: it names no one who is left for Security/),
    );
  });
});

describe("saved tasks in a policy file", () => {
  const read = (tasks: string) => {
    const policy = readPolicy(`tasks:\n${tasks}\nrules:\n${REST}`, "v");
    return policy.ok ? policy.value.tasks : policy.error.map(({ says }) => says);
  };
  const TASK = "  - { name: deploy, description: Deploys, text: 'Deploy {service} to {env}'";

  test("have the fields of their text, including those without a description", () => {
    expect(
      read(
        `${TASK}, fields: { env: { label: Environment, choices: [a, b] } }, channels: [C0OPS], who: { users: [U0ANA] } }`,
      ),
    ).toEqual([
      {
        name: "deploy",
        description: "Deploys",
        text: "Deploy {service} to {env}",
        fields: [
          { name: "service", label: "service", choices: null, required: true },
          { name: "env", label: "Environment", choices: ["a", "b"], required: true },
        ],
        channels: ["C0OPS"],
        who: { users: ["U0ANA"], groups: [], channels: [] },
      },
    ]);
  });

  test.each<[string, RegExp]>([
    [`${TASK}, fields: { evn: { label: x } } }`, /is no field of the text/],
    [`${TASK} }\n${TASK} }`, /names a second task "deploy"/],
    ["  - { name: De ploy, description: x, text: y }", /is not a name/],
    ["  - { name: deploy, description: x, text: '  ' }", /is empty/],
    ["  []", /is an empty list/],
  ])("are refused: %s", (tasks, says) => {
    expect(read(tasks)).toContainEqual(expect.stringMatching(says));
  });

  test("that no starter may use are found by the linter", async () => {
    const text = `${REST}starters: [{ channels: [C0DEV], who: anyone }]\ntasks:\n${TASK}, channels: [C0OPS, C0DEV] }\n`;
    expect(await doubts(text)).toEqual([
      expect.stringMatching(/offer "deploy" in C0OPS, where the starters/),
    ]);
  });
});
