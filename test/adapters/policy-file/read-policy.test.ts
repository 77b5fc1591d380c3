import { readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { isList, isRecord, type Json } from "#src/domain/json.ts";
import {
  createPolicyFollower,
  createPolicyHolder,
  digestOf,
  findingLine,
  loadPolicy,
} from "#src/adapters/policy-file/policy-holder.ts";
import { policySchema } from "#src/adapters/policy-file/policy-shape.ts";
import { ruleFor } from "#src/domain/policy/choose-rule.ts";
import { readPolicy } from "#src/adapters/policy-file/read-policy.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { policyLoadedEntry } from "#src/audit/entry.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { doubtsAbout, policyFile } from "../../make/policy.ts";
import { CHANNEL, REQUESTER } from "../../make/run.ts";

const at = (path: string): URL => new URL(`../../../${path}`, import.meta.url);

function faults(text: string): string[] {
  const read = readPolicy(text, "v");
  return read.ok ? [] : read.error.map((each) => findingLine("p", each));
}

async function doubts(text: string): Promise<string[]> {
  return (await doubtsAbout(text)).map((each) => findingLine("p", each));
}

const REST = "\n  - name: rest\n    approvers: anyone";

describe("a policy file is refused, each fault with its line, because of", () => {
  test.for<[string, string, string[]]>([
    ["nothing in it", "", ["p:1: the file is empty"]],
    ["no rules", "starters: [{ who: anyone }]", ["p:1: rules is missing"]],
    ["an empty list of rules", "rules: []", ["p:1: rules is empty, so no request could be decided"]],
    [
      "no YAML",
      "rules: [",
      ["p:1: Flow sequence in block collection must be sufficiently indented and end with a ]"],
    ],
    ["a key twice", "rules: 7\nrules: 8", ["p:2: Map keys must be unique"]],
    [
      "a number and a text that are the same key",
      `rules:\n  - name: one\n    when:\n      fields:\n        404: a\n        "404": b\n    approvers: anyone${REST}`,
      ["p:6: Map keys must be unique"],
    ],
    [
      "a condition on a field __proto__, which would be lost",
      `rules:\n  - name: one\n    when:\n      field: { __proto__: a }\n    approvers: anyone${REST}`,
      ["p:4: __proto__ is not a key that a policy can have"],
    ],
    [
      "a saved task's field __proto__, likewise",
      `tasks:\n  - name: one\n    description: a\n    text: b\n    fields: { "__proto__": { label: c } }\nrules:${REST}`,
      ["p:5: __proto__ is not a key that a policy can have"],
    ],
    ["a rule without approvers", "rules:\n  - name: a", ["p:2: rules[0].approvers is missing"]],
    [
      "an empty list of approvers",
      "rules:\n  - name: a\n    approvers:\n      groups: [S0GROUP]\n      users: []",
      ["p:5: rules[0].approvers.users is empty, so no one is in it"],
    ],
    [
      "approvers without people",
      "rules:\n  - name: a\n    approvers: {}",
      ["p:3: rules[0].approvers names no one: give users, groups or channels, or the word anyone"],
    ],
    [
      "a name where an id belongs",
      "rules:\n  - name: a\n    when: { channel: '#ops' }\n    approvers: anyone",
      ["p:3: rules[0].when.channel is not a channel's id such as C0123ABCD; names are not ids"],
    ],
    [
      "an unknown key and a wrong value at the same time",
      "rules:\n  - name: a\n    approvers: anyone\n    self-approval: maybe\n    colour: 2",
      [
        "p:4: rules[0].self-approval is neither true nor false",
        "p:5: rules[0].colour is not a key that a policy can have",
      ],
    ],
    [
      "one name for two rules",
      `rules:\n  - name: rest\n    when: { action: x }\n    approvers: anyone${REST}`,
      ['p:5: rules[1].name names a second rule "rest": the audit could not tell them apart'],
    ],
    [
      "a denial without a reason",
      "rules:\n  - name: a\n    approvers: anyone\n    reason: { deny: 0 }",
      ["p:4: rules[0].reason.deny is less than 1: a denial needs a reason"],
    ],
    [
      "an empty list of starters",
      `rules:${REST}\nstarters: []`,
      ["p:4: starters is empty, so no one could start a run; leave it out to let everyone"],
    ],
  ])("%s", ([, text, told]) => expect(faults(text)).toEqual(told));
});

test("a hold of ten minutes is accepted, and a longer one is refused", () => {
  const holding = (hold: string): string[] =>
    faults(`rules:\n  - name: a\n    approvers: anyone\n    hold: ${hold}`);
  expect(holding("10 min")).toEqual([]);
  for (const longer of ["601 s", "11 min", "100 min"]) {
    const [message = "", ...others] = holding(longer);
    expect(message).toContain("p:4: rules[0].hold");
    expect(others).toEqual([]);
  }
});

describe("the linter doubts", () => {
  test("no rule that an earlier rule covers only for some requesters", async () => {
    const text = `rules:
  - name: ben
    when: { action: "deploy *", requester: U0BEN }
    approvers: { users: [U0CAT] }
  - name: deploys
    when: { action: "deploy *" }
    approvers: { users: [U0CAT] }${REST}`;
    expect((await doubts(text)).filter((each) => each.includes("never applies"))).toEqual([]);
  });

  test("a rule that never applies, and names the rule that covers it", async () => {
    const text = `rules:
  - name: deploys
    when: { action: "deploy *", channel: [C0OPS, C0REL] }
    approvers: anyone
  - name: production
    when: { action: ["deploy * to production", "deploy x"], channel: C0OPS, field: { risk: high } }
    approvers: anyone${REST}`;
    expect(await doubts(text)).toEqual([
      'p:5: rules[1] "production" never applies: "deploys" comes before it and matches everything that it matches',
    ]);
  });

  test("a policy without a rule that always applies", async () => {
    const text = 'rules:\n  - name: a\n    when: { action: "*" }\n    approvers: anyone';
    expect(await doubts(text)).toEqual([
      'p:1: rules no rule matches every request, so a request that matches none cannot be decided. Add a last rule without "when"',
    ]);
  });

  test("no rule that is only narrower than, wider than or beside another", async () => {
    const text = `rules:
  - name: production
    when: { action: "deploy * to production" }
    approvers: anyone
  - name: deploys
    when: { action: "deploy *" }
    approvers: anyone
  - name: here
    when: { channel: C0OPS }
    approvers: anyone${REST}`;
    expect(await doubts(text)).toEqual([]);
  });
});

describe("a rule that cannot be satisfied", () => {
  const rule = async (text: string) =>
    (await doubts(`rules:\n  - { name: a, ${text} }${REST}`)).filter((each) => each.includes("satisfied"));

  test("is doubted: too few people are named, or they alone start the runs", async () => {
    const message = 'p:2: rules[0] "a" can never be satisfied';
    expect((await rule("approvers: { users: [U0BEN] }, quorum: 2"))[0]).toContain(message);
    expect((await rule("when: { requester: U0BEN }, approvers: { users: [U0BEN] }"))[0]).toContain(message);
  });

  test("is not doubted if a group may have enough people, or enough are named", async () => {
    const here = "when: { channel: C0OPS }, quorum: 2";
    expect(await rule(`${here}, approvers: { users: [U0BEN], groups: [S0SOME] }`)).toEqual([]);
    expect(await rule(`${here}, approvers: { users: [U0BEN, U0CAT] }`)).toEqual([]);
  });
});

describe("a rule that can be evaded", () => {
  const strict = "approvers: { users: [U0ANA] }, quorum: 1";
  const named = async (...rules: string[]) => {
    const text = `rules:\n${rules.map((each, at) => `  - { name: r${at}, ${each} }`).join("\n")}\n`;
    return (await doubts(text)).map((each) => each.replace(/^p:\d+: rules\[(\d)\] /, "$1 "));
  };
  const lax = "approvers: anyone";

  test("is doubted if other words match a laxer rule, with a suggestion", async () => {
    expect(await named(`when: { action: "deploy * to production" }, ${strict}`, lax)).toEqual([
      '0 "r0" can be evaded: other words for the same thing do not match it, and a request that does not match it may fall under "r1", which is laxer (who may approve). Make the last rule the strictest, and list harmless requests before it by exact values',
    ]);
  });

  test("is doubted if a run can be started elsewhere", async () => {
    const [message] = await named(`when: { channel: C0PAY }, ${strict}`, lax);
    expect(message).toContain("a run can be started elsewhere, or by someone else");
  });

  test.each([
    ["any text matches its *", 'when: { action: "restart *" }'],
    ["any text matches its *", "when: { field: { target.env: [staging, 'test*'] } }"],
    ["the requester chooses the task", "when: { input: restart }"],
    ["the requester chooses the channel", "when: { channel: C0OPS }"],
  ])("is doubted if it is lax and %s", async (why, when) => {
    const [message] = await named(`${when}, ${lax}`, strict);
    expect(message).toContain('is laxer than "r1" after it (who may approve)');
    expect(message).toContain(why);
  });

  test.each([
    ["exact values of a field", "when: { action: 'restart *', field: { target.env: [staging, 4] } }"],
    ["an exact action", "when: { action: restart billing-api }"],
    ["its requester", "when: { requester: U0BEN }"],
  ])("is not doubted if %s hold a request there", async (_what, when) => {
    expect(await named(`${when}, ${lax}`, strict)).toEqual([]);
  });

  test("is not doubted if the policy names who may start runs in its channel", async () => {
    const rules = `rules:\n  - { name: a, when: { channel: C0OPS }, ${lax} }\n  - { name: b, ${strict} }\n`;
    expect(await doubts(`${rules}starters: [{ channels: [C0OPS], who: { users: [U0BEN] } }]`)).toEqual([]);
    expect(await doubts(`${rules}starters: [{ channels: [C0OPS], who: anyone }]`)).toHaveLength(1);
  });

  test("is not doubted if it is neither stricter nor laxer than the next rules", async () => {
    const other = "approvers: { users: [U0BEN] }";
    expect(await named(`when: { action: "deploy *" }, ${strict}`, other)).toEqual([]);
    expect(await named(`when: { action: "deploy *" }, ${lax}, quorum: 3`, strict)).toEqual([]);
  });
});

describe("the policy in force", () => {
  const log = (lines: string[]) => {
    const write = (_fields: object, message: string): void => void lines.push(message);
    return { debug: write, info: write, warn: write, error: write };
  };

  test("is the built-in one without a file, and reading again changes nothing", async () => {
    const holder = await createPolicyHolder(null, log([]));
    expect(holder.now()).toMatchObject({ version: null });
    expect(await holder.reload()).toBe(false);
  });

  test("is read again on demand, with another version; a bad file keeps the old one and says so", async () => {
    const lines: string[] = [];
    const file = policyFile(`rules:${REST}`);
    const holder = await createPolicyHolder(file.path, log(lines));
    const first = holder.now();
    expect(first.version).toMatch(/^[0-9a-f]{12}$/);
    file.write("rules: []");
    expect(await holder.reload()).toBe(false);
    expect(holder.now()).toBe(first);
    expect(lines.at(-1)).toContain("the old policy stays in force");
    file.write(`rules:\n  - { name: other, approvers: { users: [U0ANA] } }`);
    expect(await holder.reload()).toBe(true);
    expect(holder.now().rules[0]?.name).toBe("other");
    expect(holder.now().version).not.toBe(first.version);
    expect(await holder.reload()).toBe(false);
  });

  test("changes only after the new one was recorded with its text; if that fails, the old one stays", async () => {
    const lines: string[] = [];
    const text = `rules:${REST}`;
    const file = policyFile(text);
    const holder = await createPolicyHolder(file.path, log(lines));
    expect(holder.loaded()).toEqual({ policy: holder.now(), text });
    const first = holder.now();
    const other = `rules:\n  - { name: other, approvers: { users: [U0ANA] } }`;
    file.write(other);
    expect(await holder.reload(() => Promise.reject(new Error("disk full")))).toBe(false);
    expect(holder.now()).toBe(first);
    expect(lines.at(-1)).toContain("the old policy stays in force");
    const seen: unknown[] = [];
    const changed = await holder.reload((loaded) => {
      expect(holder.now()).toBe(first);
      return Promise.resolve(void seen.push(loaded.text));
    });
    expect(changed).toBe(true);
    expect(seen).toEqual([other]);
    await holder.reload(() => Promise.reject(new Error("it is the same policy")));
    expect(holder.now().rules[0]?.name).toBe("other");
  });

  test("is the one that another replica loaded last, according to the signed audit", async () => {
    const lines: string[] = [];
    const holder = await createPolicyHolder(null, log(lines));
    const store = await openStore({ url: "sqlite::memory:", owner: "test" });
    onTestFinished(() => store.close());
    const follow = createPolicyFollower(holder, store, log(lines));
    const other = await createPolicyHolder(policyFile(`rules:${REST}`).path, log(lines));
    const now = { now: 1, digest: digestOf };
    expect(await follow()).toBe(false);
    await store.audit([policyLoadedEntry(other.loaded(), now)]);
    expect(await follow()).toBe(true);
    expect(holder.loaded()).toEqual(other.loaded());
    expect(await follow()).toBe(false);
    await store.audit([policyLoadedEntry({ policy: BUILT_IN, text: null }, now)]);
    expect(await follow()).toBe(true);
    expect(holder.now().version).toBeNull();
  });

  test("stays if the policy of another replica cannot be read here, and no decision leaves meanwhile", async () => {
    const holder = await createPolicyHolder(null, log([]));
    const store = await openStore({ url: "sqlite::memory:", owner: "test" });
    onTestFinished(() => store.close());
    const follow = createPolicyFollower(holder, store, log([]));
    const newer = { policy: BUILT_IN, text: "of-a-later-version: true" };
    await store.audit([policyLoadedEntry(newer, { now: 1, digest: digestOf })]);
    await expect(follow()).rejects.toThrow("cannot read");
    // The second attempt has the same result.
    await expect(follow()).rejects.toThrow("cannot read");
    expect(holder.now().version).toBeNull();
  });

  test("is missing if the file can't be read or used at the start", async () => {
    await expect(createPolicyHolder("/nowhere/policy.yaml", log([]))).rejects.toThrow(
      /can't be read: ENOENT/,
    );
    const { path } = policyFile("rules: []");
    await expect(createPolicyHolder(path, log([]))).rejects.toThrow(`${path}:1: rules is empty`);
  });
});

test("docs/policy-example.yaml can be used, and the linter has no complaints", async () => {
  expect(await doubts(readFileSync(at("docs/policy-example.yaml"), "utf8"))).toEqual([]);
});

describe("docs/policy.md", () => {
  const text = readFileSync(at("docs/policy.md"), "utf8");
  const examples = [...text.matchAll(/```yaml\n([^]*?)```/g)].map(([, yaml]) => yaml ?? "");

  test("has examples, and the linter has no complaints about any", async () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const each of examples) expect(await doubts(each)).toEqual([]);
  });

  test("teaches a rule that other words do not evade", () => {
    const read = readPolicy(examples[0] ?? "", "v");
    if (!read.ok) throw new Error("the example can't be used");
    const asks = (action: string, more: object = {}) => {
      const place = { channel: CHANNEL, requester: REQUESTER, input: "task" };
      return ruleFor(read.value, { ...place, action, content: { action, ...more } }).name;
    };
    for (const action of ["Roll out billing to the production cluster", "Please deploy billing", "drop it"])
      expect(asks(action)).toBe("everything else");
    expect(asks("deploy billing", { target: { env: "staging" } })).toBe("harmless");
    expect(asks("deploy billing", { target: { env: ["staging", "production"] } })).toBe("everything else");
    expect(asks("deploy billing", { target: { env: "production" }, "target.env": "staging" })).toBe(
      "everything else",
    );
  });

  test("names every key of a policy", () => {
    const known = new Set(propertiesIn(JSON.parse(JSON.stringify(policySchema())) as Json));
    expect(known.size).toBeGreaterThan(8);
    expect([...known].filter((key) => !namesKey(text, key))).toEqual([]);
  });

  test("matches the schema that editors read", () => {
    expect(JSON.parse(readFileSync(at("docs/policy.schema.json"), "utf8"))).toEqual(
      JSON.parse(JSON.stringify(policySchema())),
    );
  });
});

/**
 * Whether the text has the key in backticks: alone, or before its value. Words of a sentence and examples do not
 * count.
 */
function namesKey(text: string, key: string): boolean {
  const spans = text.replaceAll(/^```.*?^```/gms, "").match(/`[^`\n]+`/g) ?? [];
  return spans.some((span) => span === `\`${key}\`` || new RegExp(`[\`{, ]${key}:`).test(span));
}

function propertiesIn(schema: Json): string[] {
  if (isList(schema)) return schema.flatMap(propertiesIn);
  if (!isRecord(schema)) return [];
  const own = isRecord(schema["properties"] ?? null) ? Object.keys(schema["properties"] ?? {}) : [];
  return [...own, ...Object.values(schema).flatMap(propertiesIn)];
}

test("the version depends on the text alone", async () => {
  const [a, b] = [
    await loadPolicy(policyFile(`rules:${REST}`).path),
    await loadPolicy(policyFile(`rules:${REST}`).path),
  ];
  expect(a).toEqual(b);
});
