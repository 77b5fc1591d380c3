// A person who uses several Countersigns sees first which one is speaking: on the lock screen and on everything that
// stands alone.

import { expect, test } from "vitest";
import { messageExamples, cardExamples } from "./page/page.ts";
import { DEPLOYMENT } from "./page/example.ts";
import { printedBlocks, printedView } from "./printed.ts";

const examples = { ...(await messageExamples()), ...cardExamples() };
const of = (...prefixes: string[]) =>
  Object.entries(examples).flatMap(([id, drawn]) =>
    prefixes.some((prefix) => id.startsWith(prefix)) ? drawn.map((each) => ({ id, ...each })) : [],
  );

test.for(
  of(
    "card:",
    "run:",
    "outcome:",
    "thread:",
    "unreadable:",
    "notice:",
    "receipt:",
    "notification:",
    "answer:health:",
  ),
)("the notification of $id $when begins with the deployment", ({ drawn }) => {
  expect("text" in drawn && drawn.text).toMatch(new RegExp(`^${DEPLOYMENT.name} · `));
});

test.for(
  of("run:", "notice:", "receipt:", "notification:", "unreadable:", "thread:service", "answer:health:"),
)("$id $when shows the deployment first", ({ drawn }) => {
  expect(printedBlocks(drawn.blocks)).toMatch(new RegExp(`^[#* ]*${DEPLOYMENT.name} · `));
});

test.for(of("form:approve", "form:deny", "form:read-first"))(
  "$id $when shows the deployment beside the risk",
  ({ drawn }) => {
    expect(printedView(drawn).split("\n")[1]).toContain(
      `**${DEPLOYMENT.name} · High risk** · \`production\``,
    );
  },
);
