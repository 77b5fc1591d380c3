// The coverage table as a Markdown page.

import { coverage } from "./coverage.ts";
import type { Section } from "./coverage.ts";
import type { Row } from "./row.ts";

const head = `# What the sandbox imitates of Slack

This page is generated from \`test/sandbox/slack/coverage/coverage.ts\`. \`test/sandbox/slack/coverage.test.ts\` checks that every
method, payload, error, limit, block and element has a row, and that every row names tests that exist. After a change, run
\`npx vitest run test/sandbox/slack/coverage.test.ts -u\`.

**How faithfully.** *exact*: as the source says. *close*: minor details are missing. *simplified*: the idea, but not the details.
*not imitated*: the sandbox reports an error and does not pretend.

**Sources.** "docs.slack.dev": Slack's documentation. "@slack/types", "@slack/bolt": the types and comments of the SDK.
"slack-api-ref", "slack_kit": copies of the documentation of the methods, with arguments and errors. "third party": observed by
others on the real Slack. "guess": documented nowhere; the sandbox is strict on purpose.

**Every key is checked against the types of Slack's own packages**, which Slack generates from recorded answers
(\`test/sandbox/slack/published-types.test.ts\`). \`published/differences.ts\` in the same folder lists each difference with its reason.

**None of this has been compared with a real workspace yet.** The probes (\`test/contract/slack-probes.ts\`) are made for that: they
are a list of calls and the expected answers. Every test run sends them to the sandbox. To send them to a real workspace:

\`\`\`sh
PROBE_SLACK_BOT_TOKEN=xoxb-… PROBE_SLACK_APP_TOKEN=xapp-… PROBE_SLACK_CHANNEL=C0123456789 \\
  npx vitest run test/sandbox/slack/probes.test.ts
\`\`\`

The app token is optional. The bot must be a member of the channel and have \`chat:write\`, \`channels:history\` (for a private
channel \`groups:history\`), \`users:read\`, \`usergroups:read\`, \`files:write\`, \`reactions:write\` and \`im:write\`. The probes post
only in that channel, and delete what they posted. If an answer differs, the sandbox is wrong.
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
