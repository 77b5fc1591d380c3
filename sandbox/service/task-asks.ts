// What runs ask for, derived from the text of their task.

import type { Ask } from "./service-run.ts";

/** The first line of the task, short enough for a title. */
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
