// The coverage table as a page of Markdown.

import { coverage } from "./coverage.ts";
import type { Section } from "./coverage.ts";
import type { Row } from "./row.ts";

const head = `# What the sandbox imitates of Slack

This page is made from \`test/sandbox/slack/coverage/coverage.ts\` and held to the code by \`test/sandbox/slack/coverage.test.ts\`:
every method, payload, refusal, limit, block and element has a row, and every row names tests that exist. After a change:
\`npx vitest run test/sandbox/slack/coverage.test.ts -u\`.

**How faithfully.** *exact*: as the source says. *close*: lesser details are left out. *simplified*: the idea, not the detail.
*not imitated*: the sandbox says so rather than pretend.

**On whose word.** "docs.slack.dev": Slack's documentation. "@slack/types", "@slack/bolt": the SDK's own types and comments.
"slack-api-ref", "slack_kit": copies of the methods' pages with their arguments and errors. "third party": seen by others on
the real Slack. "guess": nobody has said so; the sandbox is strict on purpose.

**Every key is held to the types of Slack's own packages**, which Slack makes from recorded answers
(\`test/sandbox/slack/published-types.test.ts\`). What differs is listed with its reason (\`published/differences.ts\` beside it).

**None of this was compared with a real workspace yet.** The probes (\`test/contract/slack-probes.ts\`) do that: a list of
calls and what must come back. They ask the sandbox in every run of the tests, and a real workspace when it is named:

\`\`\`sh
PROBE_SLACK_BOT_TOKEN=xoxb-… PROBE_SLACK_APP_TOKEN=xapp-… PROBE_SLACK_CHANNEL=C0123456789 \\
  npx vitest run test/sandbox/slack/probes.test.ts
\`\`\`

The app token may be left out. The bot must be a member of the channel and have \`chat:write\`, \`channels:history\` (for a
private channel \`groups:history\`), \`users:read\`, \`usergroups:read\`, \`files:write\`, \`reactions:write\` and \`im:write\`.
The probes post in that channel only, and delete what they posted. Where an answer differs, the sandbox is wrong.
`;

const cell = (text: string): string => text.replaceAll("|", "\\|");

const line = ({ subject, how, what, source, proof, also = [] }: Row): string => {
  const named = (proof === null ? [] : [proof, ...also]).map(
    ([file, title]) => `${file}: ${title.replace("%s", subject)}`,
  );
  const shown = named.join("; ");
  return `| ${[`\`${subject}\``, how, what, source, shown].map(cell).join(" | ")} |`;
};

const section = ({ title, rows }: Section): string =>
  [
    `## ${title}`,
    "",
    "| Subject | How | What | Source | Test |",
    "| --- | --- | --- | --- | --- |",
    ...rows.map(line),
  ].join("\n");

export const coverageDocument = (): string => [head, ...coverage.map(section)].join("\n\n");
