// Checks the alert rules and the dashboard: Prometheus and Grafana accept them, their metrics exist, and each alert is documented.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse, stringify } from "yaml";
import { METRICS } from "#src/adapters/http/metrics-table.ts";
import { typeFaults } from "./make/type-faults.ts";

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (path: string): string => readFileSync(at(path), "utf8");

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
};
const RULES = "ops/prometheus/alerts.yml";
const UNIT_TESTS = "ops/prometheus/alerts.test.yml";
const rules = (parse(read(RULES)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
};
type Dashboard = {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};
const dashboard = JSON.parse(read("ops/grafana/countersign.json")) as Dashboard;
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);

const series = new Set(
  METRICS.flatMap(({ name, type }) =>
    (type === "histogram" ? ["_bucket", "_sum", "_count"] : [""]).map((end) => `countersign_${name}${end}`),
  ),
);
const namesIn = (expr: string): string[] => [...expr.matchAll(/\bcountersign_\w+/g)].map(([name]) => name);
const unknownIn = (exprs: readonly string[]): string[] =>
  exprs.flatMap(namesIn).filter((name) => !series.has(name));

const promtool = (...args: string[]): string => execFileSync("promtool", args, { encoding: "utf8" });

describe("the alert rules", () => {
  test("are valid for Prometheus", () => {
    expect(promtool("check", "rules", at(RULES))).toContain(`${rules.length} rules found`);
  });

  test("fire on their fault, and only then", () => {
    expect(promtool("test", "rules", at(UNIT_TESTS))).toContain("SUCCESS");
    const tested = parse(read(UNIT_TESTS)) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
    };
    const cases = tested.tests.flatMap((each) => each.alert_rule_test);
    const of = (fires: boolean): string[] =>
      cases.filter((each) => each.exp_alerts.length > 0 === fires).map(({ alertname }) => alertname);
    const alerts = rules.map(({ alert }) => alert);
    expect(of(true)).toEqual(alerts);
    // One more case is about a start.
    expect([...new Set(of(false))]).toEqual(alerts);
  });

  test("name metrics that exist", () => expect(unknownIn(rules.map(({ expr }) => expr))).toEqual([]));

  test("each have a section that says what to do, and there is no other section", () => {
    const doc = read("docs/operate.md");
    const alerts = doc.slice(doc.indexOf("\n## Alerts\n"));
    const pages = [...alerts.matchAll(/^### (\w+)\n\n(.+)/gm)].map(([, name]) => name);
    expect(pages).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, annotations, labels } of rules) {
      expect(annotations.runbook_url).toBe(`docs/operate.md#${alert.toLowerCase()}`);
      expect(["critical", "warning", "info"]).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
    }
  });
});

/** Grafana's own types, generated from its schema. Enumerations become their words, because a document contains the words. */
const GRAFANA = `
import type { Dashboard, Panel, RowPanel } from "@grafana/schema";
import type { Options as StatOptions } from "@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen";
import type * as series from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";

type Written<T> = T extends string
  ? \`\${T}\`
  : T extends readonly (infer Item)[]
    ? Written<Item>[]
    : T extends object
      ? { [Key in keyof T]: Written<T[Key]> }
      : T;
type Query = { refId: string; expr: string; legendFormat?: string; datasource: { type: "prometheus"; uid: string } };
type Shown<Type extends string, Options, Custom> = Omit<Written<Panel>, "type" | "options" | "targets" | "fieldConfig"> & {
  type: Type;
  options: Written<Partial<Options>>;
  targets: Query[];
  fieldConfig: {
    defaults: Omit<Written<NonNullable<Panel["fieldConfig"]>["defaults"]>, "custom"> & { custom?: Written<Partial<Custom>> };
    overrides: Written<NonNullable<Panel["fieldConfig"]>["overrides"]>;
  };
};
type AnyPanel = Written<RowPanel> | Shown<"stat", StatOptions, never> | Shown<"timeseries", series.Options, series.FieldConfig>;
export const dashboard: Omit<Written<Dashboard>, "panels"> & { panels: AnyPanel[] } = `;

describe("the dashboard", () => {
  test("matches the types of Grafana", () => {
    const text = JSON.stringify(dashboard);
    expect(typeFaults(`${GRAFANA}${text}`)).toBe("");
    for (const [right, wrong] of [
      ['"displayMode":', '"displaymode":'],
      ['"schemaVersion":', '"schemaversion":'],
      ['"reduceOptions":', '"reduceOption":'],
    ] as const) {
      expect(text).toContain(right);
      expect(typeFaults(`${GRAFANA}${text.replaceAll(right, wrong)}`)).not.toBe("");
    }
  });

  test("has panels with a query each, in places that do not overlap", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { type, title, gridPos, targets: queries = [] } of panels) {
      expect(["row", "stat", "timeseries"]).toContain(type);
      expect(title).not.toBe("");
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      expect(queries.length > 0).toBe(type !== "row");
    }
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  test("has queries that Prometheus accepts, with variables that exist", () => {
    const folder = mkdtempSync(join(tmpdir(), "countersign-ops-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const known = new Set(dashboard.templating.list.map(({ name }) => name));
    const used = targets.flatMap(({ expr }) => [...expr.matchAll(/\$(\w+)/g)].map(([, name]) => name ?? ""));
    expect(used.filter((name) => name !== "__rate_interval" && !known.has(name))).toEqual([]);
    const records = targets.map(({ expr }, index) => ({
      record: `query_${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll("$job", "countersign"),
    }));
    const file = join(folder, "queries.yml");
    writeFileSync(file, stringify({ groups: [{ name: "dashboard", rules: records }] }));
    expect(promtool("check", "rules", file)).toContain(`${records.length} rules found`);
  });

  test("names metrics that exist", () => expect(unknownIn(targets.map(({ expr }) => expr))).toEqual([]));

  test("shows every metric of ours, except a few that are covered by others", () => {
    const shown = new Set(
      targets.flatMap(({ expr }) => namesIn(expr)).map((name) => name.replace(/_bucket$/, "")),
    );
    const left = METRICS.map(({ name }) => `countersign_${name}`).filter((name) => !shown.has(name));
    expect(left).toEqual([
      "countersign_runs_watched",
      "countersign_effects_total",
      "countersign_polls_in_flight",
      "countersign_slack_connected",
      "countersign_policy_last_reload_success_timestamp_seconds",
    ]);
  });
});
