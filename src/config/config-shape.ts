// The configuration as the rest of the program sees it.

import type { DatabasePlace, SinkPlace } from "./value-formats.ts";
import type { Proxies } from "./proxies.ts";
import type { LogLevel, RecordedConfig } from "./variables.ts";

export type Config = {
  readonly slack: SlackConfig;
  readonly agents: {
    readonly baseUrl: string;
    readonly apiKey: string;
    /** The file that the key came from, and that a new key may come from. Null if the key is in the environment. */
    readonly apiKeyFile: string | null;
    readonly denyWord: string;
  };
  readonly gatewayUrl: string;
  /** The URL of a run's page, with `{run}` for its id. Null if ids are not shown as links. */
  readonly runUrl: string | null;
  readonly database: DatabasePlace;
  readonly audit: AuditConfig;
  /** Null if every call is made directly. */
  readonly proxies: Proxies | null;
  readonly http: { readonly host: string; readonly port: number };
  /** How long a finished run is kept (ms). */
  readonly keepFinishedMs: number;
  readonly poll: { readonly minMs: number; readonly maxMs: number };
  /** Null if there is no policy file, so the built-in policy applies. */
  readonly policyFile: string | null;
  /** The people whom cards mention if there is no policy file. */
  readonly approvers: { readonly users: readonly string[]; readonly groups: readonly string[] };
  readonly logLevel: LogLevel;
  /** The configuration as the audit records it, without secrets. */
  readonly recorded: RecordedConfig;
};

export type AuditConfig = {
  /** A seed of 32 bytes in base64. Null to use the key beside the database. */
  readonly key: string | null;
  readonly channel: string | null;
  readonly admins: readonly string[];
  /** Null if the entries are not sent anywhere. */
  readonly sink: AuditSinkConfig | null;
};

/** `token` is null if none is set. */
type AuditSinkConfig =
  | Exclude<SinkPlace, { type: "http" }>
  | (Extract<SinkPlace, { type: "http" }> & { readonly token: string | null });

type SlackConfig = {
  readonly botToken: string;
  /** Null to ask Slack for it. */
  readonly appId: string | null;
  /** Null for Slack's own address. */
  readonly apiUrl: string | null;
  readonly command: string;
  /** The first words of each message and form. Empty if the deployment has no name. */
  readonly deployment: string;
  /** The time limit of calls that a person waits for (ms). No variable sets it. Tests wait longer on a slow machine. */
  readonly quickMs?: number;
} & (
  | { readonly mode: "socket"; readonly appToken: string }
  | { readonly mode: "http"; readonly signingSecret: string }
);
