import { expect, test } from "vitest";
import { createSharedAnswers } from "#src/adapters/slack/shared-look-ups.ts";
import { failureOf } from "./failing.ts";

function asking(answer: (count: number) => Promise<string> = (count) => Promise.resolve(`answer ${count}`)) {
  const asked: string[] = [];
  let now = 0;
  const shared = createSharedAnswers({ monotonic: () => now }, (key: string) => answer(asked.push(key)));
  return { shared, asked, later: (ms: number) => (now += ms) };
}

test("a pending answer is shared by all who ask meanwhile", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { shared, asked } = asking(() => promise);
  const both = Promise.all([shared("a", 0), shared("a", 0)]);
  resolve("one");
  expect(await both).toEqual(["one", "one"]);
  expect(asked).toEqual(["a"]);
});

test("a finished answer is shared up to the maximum age of each caller", async () => {
  const { shared, later } = asking();
  expect(await shared("a", 0)).toBe("answer 1");
  later(10);
  expect(await shared("a", 10)).toBe("answer 1");
  expect(await shared("a", 9)).toBe("answer 2");
  expect(await shared("a", 0)).toBe("answer 2");
});

test("an answer is as old as its question, so that a slow answer does not count as fresh", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { shared, later } = asking((count) => (count === 1 ? promise : Promise.resolve("fresh")));
  const slow = shared("a", 0);
  later(6_000);
  expect(await shared("a", 5_000)).toBe("fresh");
  resolve("slow");
  expect(await slow).toBe("slow");
  expect(await shared("a", 5_000)).toBe("fresh");
});

test("a question that waits for its turn is shared however long it waits, and its age counts from its turn", async () => {
  const turn = Promise.withResolvers<void>();
  let now = 0;
  let asked = 0;
  const ask = (): Promise<number> => Promise.resolve((asked += 1));
  const shared = createSharedAnswers({ monotonic: () => now }, ask, () => turn.promise);
  const first = shared("a", 5_000);
  now += 60_000;
  const later = shared("a", 5_000);
  expect(shared.has("a", 5_000)).toBe(false);
  turn.resolve();
  expect(await Promise.all([first, later])).toEqual([1, 1]);
  now += 5_000;
  expect(shared.has("a", 5_000)).toBe(true);
  expect(await shared("a", 5_000)).toBe(1);
  expect(await shared("a", 4_999)).toBe(2);
});

test("keys are independent of each other", async () => {
  const { shared } = asking();
  expect(await Promise.all([shared("a", 99), shared("b", 99)])).toEqual(["answer 1", "answer 2"]);
});

test("a failure is reported to all who share it and not kept", async () => {
  const { shared, asked } = asking((count) =>
    count === 1 ? Promise.reject(new Error("no")) : Promise.resolve("yes"),
  );
  const [one, other] = [failureOf(shared("a", 99)), failureOf(shared("a", 99))];
  expect(await one).toMatchObject({ message: "no" });
  expect(await other).toMatchObject({ message: "no" });
  expect(await shared("a", 99)).toBe("yes");
  expect(asked).toHaveLength(2);
});

test("a failure of an older question does not remove a newer answer", async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  const { shared, later } = asking((count) => (count === 1 ? promise : Promise.resolve("newer")));
  const older = failureOf(shared("a", 0));
  later(1);
  expect(await shared("a", 0)).toBe("newer");
  reject(new Error("late"));
  await older;
  expect(await shared("a", 99)).toBe("newer");
});

test("of very many keys, the least recently used is forgotten first", async () => {
  const { shared, asked } = asking();
  for (let at = 0; at <= 5_000; at += 1) await shared(`key ${at}`, 99);
  await shared("key 5000", 99);
  expect(asked).toHaveLength(5_001);
  await shared("key 0", 99);
  expect(asked).toHaveLength(5_002);
});
