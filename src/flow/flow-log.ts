/** As much of a logger as the use cases need. Fields hold ids, never texts of people or secrets. */
export type FlowLog = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** What the use cases count; `http/metrics.ts` keeps the counts. */
export type FlowMetrics = {
  poll(outcome: string, seconds: number): void;
  pollsInFlight(count: number): void;
  runsWatched(count: number): void;
  effect(what: string, outcome: string): void;
  decision(verdict: string, outcome: string): void;
  refusal(because: string): void;
  outage(on: boolean): void;
  /** How many approvals the service lists that cannot be read. */
  unreadable(approvals: number): void;
  /** Findings of tampering that nobody has acknowledged. */
  tampered(findings: number): void;
};
