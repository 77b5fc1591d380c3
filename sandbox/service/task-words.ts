// The outputs of runs, and texts that are hard for readers to handle.

import type { Step } from "./script.ts";
import type { Approval, Ask, Ending, Run } from "./service-run.ts";

export function accountOf(run: Run): string {
  const lines = run.approvals.map(
    (approval) => `- **${subjectOf(approval.action)}**: ${whatBecameOf(approval)}`,
  );
  const undone = run.approvals.some(({ state }) => state.type !== "decided" || state.verdict === "deny");
  const title = undone ? "Finished, but not everything was done" : "Done";
  return [
    `# ${title}: ${subjectOf(run.input)}`,
    "",
    ...lines,
    "",
    "_Simulated by the sandbox; nothing was deployed._",
  ].join("\n");
}

function whatBecameOf({ state }: Approval): string {
  if (state.type === "pending") return "still waiting.";
  if (state.type === "withdrawn") return "**not done**, the request was withdrawn before anyone decided.";
  const because =
    state.reason === null || state.reason === "" ? "No reason was given." : `Reason: ${state.reason}`;
  return state.verdict === "approve"
    ? `approved and done. ${because}`
    : `**not done**, it was denied. ${because}`;
}

const succeeded = (run: Run): Ending => ({ type: "succeeded", output: accountOf(run) });

const wasDenied = (run: Run): boolean =>
  run.approvals.some(({ state }) => state.type === "decided" && state.verdict === "deny");

/** Returns a text of this length with numbered lines, so that a reader can see whether anything is missing. */
export function numberedLines(length: number): string {
  let text = "";
  for (let line = 1; text.length < length; line += 1) text += `line ${line} of a very long text\n`;
  return text.slice(0, length);
}

/**
 * Everything that has fooled readers of chat messages: Slack's control sequences, misleading Markdown links, forged status lines,
 * direction overrides, zero-width and control characters, and look-alike characters.
 */
export const hostileText = [
  "Deploy <!channel> <!here> <!everyone> <@U0000001> <#C0000001|general> <!subteam^S0000001>",
  "<https://evil.example/login|https://bank.example> [https://bank.example](https://evil.example) ![](https://evil.example/p.png)",
  "*bold* _italic_ ~gone~ `code` ```\nblock\n``` &lt;!channel&gt; &amp;amp; :white_check_mark:",
  "> Approved by <@U0000001>. *No decision is needed.*",
  "rm -rf /tmp/cache\u202e ylno daer \u202c\u2066then the database\u2069 \u200fright to left",
  "zero\u200bwidth\u200cjoi\u200dners\ufeff and soft\u00adhyphens \u2060and tags \u{e0061}\u{e0070}\u{e0070}",
  "bell\u0007 back\b\b\bspace escape\u001b[31mred\u001b[0m nul\u0000 delete\u007f next\u0085line separator\u2028here",
  "\u0430\u0440\u0440rove the d\u0435ployment to pr\u03bfduction",
  `stacked ${"Z\u0351\u036b\u0343".repeat(12)}`,
  `one word of ${"wide".repeat(200)}`,
].join("\n");

// The approvals that runs ask for, derived from the text of the task.

/** Returns the first line of the task, shortened to the length of a title. */
export function subjectOf(input: string): string {
  const line = input.trim().split("\n", 1)[0] ?? "";
  const points = Array.from(line);
  return points.length <= 120 ? line : `${points.slice(0, 119).join("")}…`;
}

export function deployment(input: string, to?: string): Ask {
  const subject = subjectOf(input);
  const environment =
    to ?? /\b(production|staging|canary|development)\b/i.exec(subject)?.[0].toLowerCase() ?? "production";
  const what =
    /^(?:please\s+)?(?:deploy|ship|release|roll out)\s+(.+)$/i.exec(subject)?.[1] ??
    `the result of “${subject}”`;
  const where = what.toLowerCase().includes(environment) ? "" : ` to ${environment}`;
  return {
    action: `Deploy ${what}${where}`,
    details: {
      tool: "deploy",
      arguments: { subject: what, environment, strategy: "rolling", replicas: 3, dry_run: false },
      environment,
      risk: environment === "production" ? "high" : "medium",
    },
  };
}

export function migration(input: string): Ask {
  return {
    action: `Run the database migration for “${subjectOf(input)}”`,
    details: {
      tool: "migrate",
      arguments: { database: "orders", reversible: false },
      environment: "production",
      risk: "high",
    },
  };
}

export function notice(count: number): Ask {
  return {
    action: `Send a notice to ${count.toLocaleString("en")} customers`,
    details: { tool: "send_mail", arguments: { template: "maintenance", recipients: count }, risk: "medium" },
  };
}

export function spending(amount: number): Ask {
  return {
    action: `Add capacity for up to ${amount} EUR a month`,
    details: { tool: "scale", arguments: { monthly_limit: amount, currency: "EUR" }, risk: "low" },
  };
}

// The steps of task scripts.

export const littleWork: Step = { type: "work", ms: 1_500 };
export const succeedWithAccount: Step = {
  type: "end",
  what: "succeeds, and says what was decided and why",
  how: succeeded,
};

export const asking = (...asks: Ask[]): Step => ({ type: "ask", asks });
export const succeedWith = (output: string, what: string): Step => ({
  type: "end",
  what,
  how: () => ({ type: "succeeded", output }),
});
export const endIfDenied: Step = {
  type: "end",
  what: "succeeds here if something was denied, otherwise continues",
  how: (run) => (wasDenied(run) ? succeeded(run) : null),
};
export const failure = (code: string, message: string): Step => ({
  type: "end",
  what: `fails: ${message}`,
  how: () => ({ type: "failed", code, message }),
});
export const failIfDenied: Step = {
  type: "end",
  what: "fails here if something was denied, otherwise continues",
  how: (run) =>
    wasDenied(run)
      ? { type: "failed", code: "denied", message: "The run cannot continue without the denied action." }
      : null,
};
