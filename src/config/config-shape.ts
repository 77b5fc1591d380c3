// What the rest of the program gets of the environment.

import type { DatabasePlace, SinkPlace } from "./formats.ts";
import type { Proxies } from "./proxies.ts";
import type { LogLevel, RecordedConfig } from "./variables.ts";

export type Config = {
  readonly slack: SlackConfig;
  readonly agents: {
    readonly baseUrl: string;
    readonly apiKey: string;
    /** The file that the key came from, and that a new key may come from. Null: it is in the environment. */
    readonly apiKeyFile: string | null;
    readonly denyWord: string;
  };
  readonly gatewayUrl: string;
  /** An address with `{run}` for the id of a run. Null: ids are no links. */
  readonly runUrl: string | null;
  readonly database: DatabasePlace;
  readonly audit: AuditConfig;
  /** Null: every call goes out directly. */
  readonly proxies: Proxies | null;
  readonly http: { readonly host: string; readonly port: number };
  /** How long a finished run is kept. */
  readonly keepFinishedMs: number;
  readonly poll: { readonly minMs: number; readonly maxMs: number };
  /** Null: no policy file, so the built-in policy. */
  readonly policyFile: string | null;
  /** Whom cards mention while there is no policy file. */
  readonly approvers: { readonly users: readonly string[]; readonly groups: readonly string[] };
  readonly logLevel: LogLevel;
  /** As the audit records it: without secrets. */
  readonly recorded: RecordedConfig;
};

export type AuditConfig = {
  /** A seed of 32 bytes in base64. Null: the key beside the database. */
  readonly key: string | null;
  readonly channel: string | null;
  readonly admins: readonly string[];
  /** Null: the entries are sent nowhere. */
  readonly sink: AuditSinkConfig | null;
};

/** The token is null where none is given. */
type AuditSinkConfig =
  | Exclude<SinkPlace, { type: "http" }>
  | (Extract<SinkPlace, { type: "http" }> & { readonly token: string | null });

type SlackConfig = {
  readonly botToken: string;
  /** Null: Slack is asked. */
  readonly appId: string | null;
  /** Null: Slack itself. */
  readonly apiUrl: string | null;
  readonly command: string;
  /** The first word of cards and notifications; empty: it has no name. */
  readonly deployment: string;
} & (
  | { readonly mode: "socket"; readonly appToken: string }
  | { readonly mode: "http"; readonly signingSecret: string }
);
