// The types of the rows, for Kysely. schema.ts explains what each table and column holds.

import type { Kysely } from "kysely";
import type { ApprovalId, ChannelId, Nonce, RunId, RunKey, TeamId, UserId } from "../../domain/ids.ts";

export type Database = Kysely<Tables>;

export type Tables = {
  runs: RunRow;
  owners: { owner: string; until: number };
  buttons: { nonce: Nonce; run: RunKey; approval: ApprovalId; version: number; seal: string };
  forms: { nonce: Nonce; run: RunKey; opened_at: number; doc_version: number; doc: string; seal: string };
  long_texts: { owner: string; digest: string; run: RunKey; text: string };
  intentions: { intention: string; run: RunKey };
  audit: AuditRow;
  audit_texts: { digest: string; text: string };
  notifications: NotificationRow;
  documents: { name: string; doc: string };
  seen_requests: { mark: string; at: number };
  schema_version: { version: number };
};

export type RunRow = {
  key: RunKey;
  service_run_id: RunId | null;
  team: TeamId;
  channel: ChannelId;
  requester: UserId;
  revision: number;
  finished: 0 | 1;
  pending: number;
  holder: string | null;
  created_at: number;
  changed_at: number;
  doc_version: number;
  audit_seq: number | null;
  audit_link: string | null;
  doc: string;
  seal: string;
};

export type AuditRow = {
  seq: number;
  at: number;
  what: string;
  run: RunKey | null;
  run_id: RunId | null;
  approval: ApprovalId | null;
  by_user: UserId | null;
  entry: string;
  link: string;
  key: string;
  signature: string;
};

export type NotificationRow = {
  id: Nonce;
  kind: string;
  entry: number;
  to_id: string;
  made_at: number;
  to_do: 0 | 1;
  disputed: 0 | 1;
  post: string;
};
