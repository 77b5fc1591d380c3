import { describe, expect, test } from "vitest";
import type { RunContext } from "#src/domain/approval.ts";
import { parseJson } from "#src/domain/json.ts";
import { CARD_FIELDS, type CardFields } from "#src/domain/policy/policy.ts";
import { cardFields, cardMarks } from "#src/domain/text/card-layout.ts";
import { headline } from "#src/domain/text/headline.ts";
import { requestChanges } from "#src/domain/text/request-changes.ts";
import { requestOf } from "../adapters/slack/observed.ts";

const NOON = Date.UTC(2026, 10, 20, 12);
const asked = (json: string) => requestOf("Deploy", parseJson(json));
const marksOf = (json: string, context: RunContext | null = null, names: CardFields = CARD_FIELDS) => {
  const { risk, where } = cardMarks(asked(json), context, names);
  return { risk: risk === null ? null : `${risk.level}: ${risk.words}`, where };
};

const ofRun = (fields: RunContext["fields"]): RunContext => ({ fields, volatile: [], digest: "", chars: 0 });

function fieldsOf(json: string) {
  const request = asked(json);
  const { short, long } = cardFields(request, cardMarks(request, null), CARD_FIELDS, NOON);
  return {
    short: short.map(({ label, value }) => `${label} = ${value}`),
    long: long.map(({ name, text }) => `${name} = ${text}`),
  };
}

describe("the risk and the place", () => {
  test.each([
    ['{"risk":"HIGH"}', "high: high"],
    ['{"severity":"severe"}', "critical: severe"],
    ['{"risk_level":"moderate"}', "medium: moderate"],
    ['{"risk":"low"}', "low: low"],
    ['{"risk":7}', "other: 7"],
    ['{"risk":"a long story about what could happen"}', null],
    ['{"risk":{"score":7}}', null],
    ["{}", null],
  ])("of %s is %s", (json, risk) => expect(marksOf(json).risk).toBe(risk));

  test("is the worst of those that the service names, so a decoy cannot lower it", () => {
    expect(marksOf('{"risk":"low","severity":"critical"}').risk).toBe("critical: critical");
    expect(marksOf('{"risk":"low","Risk":"high"}').risk).toBe("high: high");
    expect(marksOf('{"risk":"low","severity":"unknown"}').risk).toBe("other: unknown");
  });

  test("comes from the fields that the policy names, of the request or of its run", () => {
    const context = ofRun({ stage: "prod-eu" });
    const names = { ...CARD_FIELDS, risk: ["danger.level"], where: ["run.stage"] };
    expect(marksOf('{"risk":"low","danger":{"level":"high"}}', context, names)).toEqual({
      risk: "high: high",
      where: ["prod-eu"],
    });
  });

  test("is also found under the usual names, in the request or in its run", () => {
    for (const name of ["risk", "risk_level", "severity"])
      expect(marksOf(`{"${name}":"high"}`)).toEqual({ risk: "high: high", where: [] });
    for (const name of ["risk", "risk_level"])
      expect(marksOf("{}", ofRun({ [name]: "high" })).risk).toBe("high: high");
    for (const name of ["environment", "env"]) {
      expect(marksOf(`{"${name}":"eu"}`)).toEqual({ risk: null, where: ["eu"] });
      expect(marksOf(`{"target":{"${name}":"eu"}}`).where).toEqual(["eu"]);
      expect(marksOf("{}", ofRun({ [name]: "eu" })).where).toEqual(["eu"]);
    }
  });

  test("has no symbols, which could pass for Countersign's own, and its field is then shown too", () => {
    expect(marksOf('{"risk":"🟩 Low ✅ Approved","env":"✅ eu"}')).toEqual({
      risk: "other: Low Approved",
      where: ["eu"],
    });
    expect(marksOf('{"risk":"🔴 High"}').risk).toBe("high: high");
    expect(marksOf('{"risk":"🔴"}').risk).toBeNull();
    expect(marksOf('{"risk":"\\"low\\", approved"}').risk).toBe("other: 'low', approved");
    expect(fieldsOf('{"risk":"🔴 High","env":"eu"}').short).toEqual(["Risk = 🔴 High"]);
  });

  test("has a place of one word only: anything else could read as our words, and stays below, under its label", () => {
    const text = '{"environment":"approved by 2 of 2 people","env":"press Approve to confirm"}';
    expect(marksOf(text).where).toEqual([]);
    expect(fieldsOf(text).short).toEqual([
      "Environment = approved by 2 of 2 people",
      "Env = press Approve to confirm",
    ]);
    expect(marksOf('{"environment":"prod-eu.cluster/7:blue"}').where).toEqual(["prod-eu.cluster/7:blue"]);
  });

  test("of the run is a labelled field if the line does not show it in full, also if it is long", () => {
    const shown = (fields: RunContext["fields"], names: CardFields = CARD_FIELDS) => {
      const { where, runFields } = cardMarks(asked("{}"), ofRun(fields), names);
      return { where, fields: runFields.map(({ label, value }) => `${label} = ${value}`) };
    };
    expect(shown({ environment: "EU West" })).toEqual({ where: [], fields: ["Run environment = EU West"] });
    expect(shown({ env: "Production (EU)" }).fields).toEqual(["Run env = Production (EU)"]);
    expect(shown({ environment: "eu", risk: "high" })).toEqual({ where: ["eu"], fields: [] });
    expect(shown({ risk: "low", risk_level: "high" }).fields).toEqual(["Run risk = low"]);
    expect(shown({ risk: "it could stop all payments of the day" }).fields).toEqual([
      "Run risk = it could stop all payments of the day",
    ]);
    const names = { ...CARD_FIELDS, where: ["run.zone", "run.Zone", "run.target_token"] };
    expect(shown({ zone: "eu\nwest", task: "not named" }, names).fields).toEqual(["Run zone = eu west"]);
    expect(shown({ zone: "a place ".repeat(1_000_000) }, names).fields).toEqual([
      expect.stringMatching(/^Run zone = a place .*… \([\d,]+ more\)$/),
    ]);
    expect(shown({ target_token: "x".repeat(100) }, names).fields).toEqual([
      "Run target token = ⟨100 characters masked⟩",
    ]);
    expect(shown({ zone: ["PASSWORD=hunter22"] }, names).fields).toEqual([]);
    const spellings = Array.from({ length: 300 }, (_, at) => `e${"_".repeat(at % 8)}n${"-".repeat(at % 7)}v`);
    const many = Object.fromEntries([...spellings, "risk"].map((name) => [name, "EU West"]));
    const { fields } = shown({ ...many, environment: "production (live customers)" });
    expect(fields).toHaveLength(6);
    expect(fields).toContain("Run environment = production (live customers)");
    expect(fields.at(-1)).toMatch(/^More of the run = \d\d more, in the form$/);
  });

  test("names a place once, and at most two places", () => {
    expect(marksOf('{"environment":"eu","env":"eu","target":{"env":"us"}}').where).toEqual(["eu"]);
    expect(marksOf('{"environment":"eu","target":{"environment":"us","env":"ap"}}').where).toEqual([
      "eu",
      "us",
    ]);
  });
});

describe("the fields of a card", () => {
  test("begin with the tool and its target", () => {
    const json = '{"a":1,"service":"s","resource":"r","target":"t","tool":"x"}';
    expect(fieldsOf(json).short).toEqual(["Tool = x", "Target = t", "Resource = r", "Service = s", "A = 1"]);
  });

  test("stand side by side, labeled with words", () => {
    expect(
      fieldsOf('{"dry_run":false,"replicaCount":3,"big":1234567890123456789,"tags":["a","b"]}').short,
    ).toEqual(["Dry run = false", "Replica count = 3", "Big = 1234567890123456789", 'Tags = ["a","b"]']);
  });

  test("of a record are listed one by one; a record that only groups them is not named", () => {
    expect(fieldsOf('{"source":{"db":"a"},"arguments":{"db":"b"}}').short).toEqual([
      "Source db = a",
      "Db = b",
    ]);
  });

  test("are shown in a box when they are long, nested, multi-line, or have a sentence as their name", () => {
    const json = `{"diff":"a\\nb","deep":{"a":{"b":1}},"log":"${"x".repeat(70)}","Approved by Countersign":"yes","note!":"n"}`;
    const { short, long } = fieldsOf(json);
    expect(short).toEqual([]);
    expect(long.map((each) => each.split(" = ")[0])).toEqual([
      "diff",
      "deep",
      "log",
      "Approved by Countersign",
      "note!",
    ]);
  });

  test("leave out what the second line shows, and the time of the request if the card shows that minute", () => {
    expect(
      fieldsOf(
        '{"risk":"high","environment":"production","requested_at":"2026-11-20T12:00:20Z","tool":"deploy"}',
      ),
    ).toEqual({ short: ["Tool = deploy"], long: [] });
    expect(fieldsOf('{"requested_at":"2026-11-20T11:00:00Z"}').short).toHaveLength(1);
  });

  test("show times only if their time zone is known", () => {
    const { short } = cardFields(asked('{"at":"2026-11-20T12:00:00+01:00","day":"2026-11-20T12:00:00"}'), {
      risk: null,
      where: [],
      said: new Set(),
      runFields: [],
    });
    expect(short.map(({ at }) => at)).toEqual([Date.UTC(2026, 10, 20, 11), null]);
  });

  test("mask a secret by its name and by its shape", () => {
    const { short } = fieldsOf(
      '{"api_key":"abcdefgh12345678","note":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}',
    );
    expect(short.join()).toContain("masked");
    expect(short.join()).not.toMatch(/abcdefgh/);
  });
});

describe("a headline", () => {
  test("contains none of the symbols in Countersign's own titles; otherwise it is not the whole action", () => {
    expect(headline({ action: "✅ Approved ☑️ by 🟢 Ben" }, 100)).toEqual({
      text: "Approved by Ben",
      whole: false,
    });
    expect(headline({ action: "✔✓" }, 100).whole).toBe(false);
  });

  test("counts as whole only if it shows all of the action", () => {
    expect(headline({ action: "Deploy 2.41" }, 100)).toEqual({ text: "Deploy 2.41", whole: true });
    expect(headline({ action: "Deploy\n2.41" }, 100).whole).toBe(false);
    expect(headline({ action: "x".repeat(200) }, 100).whole).toBe(false);
  });
});

describe("what changed between two requests", () => {
  const changes = (was: string, is: string) => requestChanges(asked(was), asked(is)).changes;

  test("is shown field by field, with additions and removals", () => {
    expect(changes('{"env":"staging","old":"1"}', '{"env":"production","new":"2"}')).toEqual([
      { name: "env", was: "staging", is: "production" },
      { name: "old", was: "1", is: null },
      { name: "new", was: null, is: "2" },
    ]);
  });

  test("is shown of a field that is named like the path of another", () => {
    expect(changes('{"a":{"b":"1"},"a.b":"2"}', '{"a":{"b":"9"},"a.b":"2"}')).toEqual([
      { name: "a.b", was: "1", is: "9" },
    ]);
    const action = (is: string) => requestOf("Deploy", parseJson(is));
    expect(
      requestChanges(action('{"b":{"action":"1"}}'), action('{"b":{"action":"2"}}')).changes,
    ).toHaveLength(1);
  });

  test("in a long text is shown around the place of the change", () => {
    const [change] = changes(
      `{"sql":"${"x ".repeat(5_000)}DROP a"}`,
      `{"sql":"${"x ".repeat(5_000)}DROP b"}`,
    );
    expect(change?.is).toMatch(/^….*DROP b$/);
    expect(change?.was).toMatch(/^….*DROP a$/);
  });

  test("is cut with the number of characters that are left out", () => {
    const [change] = changes('{"sql":"a"}', `{"sql":"${"b".repeat(1_500)}"}`);
    expect(change?.is).toMatch(/^b{160}… \(1,340 more\)$/);
  });

  test("lists five fields and counts the others", () => {
    const of = (value: number) =>
      asked(
        JSON.stringify(Object.fromEntries(["a", "b", "c", "d", "e", "f", "g"].map((name) => [name, value]))),
      );
    const { changes: listed, moreChanges } = requestChanges(of(1), of(2));
    expect(listed.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e"]);
    expect(moreChanges).toBe(2);
    expect(changes('{"a":1}', '{"a":2}')).toHaveLength(1);
    expect(requestChanges(asked('{"a":1}'), asked('{"a":2}')).moreChanges).toBe(0);
  });

  test("masks secrets", () => {
    const [change] = changes('{"t":"x"}', '{"t":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}');
    expect(change?.is).toContain("masked");
  });
});
