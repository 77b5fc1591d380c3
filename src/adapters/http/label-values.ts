// Label values that are exposed with 0 from the start, so that the first event is an increase. Other values appear when they first occur.

import type { Refusal } from "../../domain/authorization.ts";
import type { RefusalReason } from "../../domain/command-refusal.ts";
import type { Effect, Outcome } from "../../domain/effect.ts";

const words = (text: string): string[] => text.trim().split(/\s+/);

/** The outcomes of each effect on success. Any effect can also be postponed, refused or left unclear. */
const SUCCESSES: { readonly [Type in Effect["type"]]: readonly Outcome["type"][] } = {
  "create-run": ["created"],
  post: ["posted"],
  find: ["found"],
  update: ["updated", "gone"],
  sweep: ["swept"],
  upload: ["uploaded"],
  share: ["shared", "gone"],
  "find-file": ["file-found"],
  "send-decision": ["confirmed", "elsewhere", "unproven"],
  "send-notice": ["told"],
  "count-approvers": ["counted"],
  "look-up-precedents": ["precedents"],
  "look-up-requester": ["groups-known"],
  "find-people": ["people-found"],
};
const FAILURES: readonly Outcome["type"][] = ["later", "refused", "unsure"];

export const EFFECT_OUTCOMES: readonly (readonly [string, string])[] = Object.entries(SUCCESSES).flatMap(
  ([effect, successes]) => [...successes, ...FAILURES].map((outcome) => [effect, outcome] as const),
);

export const DECISION_OUTCOMES: readonly string[] = [...SUCCESSES["send-decision"], ...FAILURES];

export const POLL_OUTCOMES = words(`
  snapshot missing timeout connection_refused connect_timeout dns tls unreachable reset garbled too_large paused
  http_401 http_403 http_429 http_500 http_502 http_503 http_504`);

/** The keys are the refusals. A record, because the compiler names a key that is missing or unknown. */
const DECISION_REFUSALS: { readonly [Type in Refusal["type"]]: true } = {
  requester: true,
  guest: true,
  outsider: true,
  bot: true,
  deactivated: true,
  "not-in-channel": true,
  "not-approver": true,
  "part-filled": true,
  unverified: true,
  "already-voted": true,
  undone: true,
  reopened: true,
  "read-first": true,
  "word-needed": true,
  "not-all-shown": true,
  "file-not-seen": true,
  stopped: true,
  frozen: true,
  "other-stop": true,
  "too-late": true,
  "not-yours": true,
  "already-decided": true,
  closed: true,
  changed: true,
  "rule-changed": true,
  unknown: true,
  "form-changed": true,
  "being-posted": true,
  "file-refused": true,
  "not-claimer": true,
  "handed-over-before": true,
  "cannot-take-over": true,
  "too-many-questions": true,
  "answered-before": true,
  "text-needed": true,
  "text-too-long": true,
  "not-asked": true,
  "form-used": true,
  "time-needed": true,
  "not-extendable": true,
  "extension-cap": true,
  "extended-meanwhile": true,
  "verdict-needed": true,
  "reason-needed": true,
  "reason-too-short": true,
  "reason-too-long": true,
};

/** The other refusals: those of commands. */
const COMMAND_REFUSALS: { readonly [Type in Exclude<RefusalReason, Refusal["type"]>]: true } = {
  "empty-task": true,
  "no-runs-here": true,
  "not-starter": true,
  "saved-task-gone": true,
  "saved-task-changed": true,
  "not-your-task": true,
  "saved-task-unfinished": true,
  "not-freezer": true,
  "already-frozen": true,
  "not-frozen": true,
  "own-freeze": true,
  "several-freezes": true,
  "other-freeze": true,
  "hidden-channel": true,
  "not-a-channel": true,
  "unknown-run": true,
  "service-silent": true,
  "already-watched": true,
  "id-used-again": true,
  "channel-unproven": true,
  "not-watched": true,
  deciding: true,
  voted: true,
  "denial-due": true,
  answered: true,
  "running-again": true,
  "not-auditor": true,
  "own-audit": true,
  tampered: true,
  "nothing-disputed": true,
  "close-why": true,
  "not-admin": true,
  "nothing-to-acknowledge": true,
  "other-findings": true,
  "acknowledge-why": true,
  "not-sent": true,
  "unknown-command": true,
};

/** The refusals of `domain/authorization.ts` and `domain/command-refusal.ts`. */
export const REFUSALS: readonly string[] = [
  ...Object.keys(DECISION_REFUSALS),
  ...Object.keys(COMMAND_REFUSALS),
];

/** The reasons of our HTTP server, `adapters/slack/request-verifier.ts` and `adapters/slack/workspace-check.ts`. */
export const REJECTIONS = words(`
  no-http too-slow too-many too-many-headers other-path other-method other-content unsigned malformed-signature out-of-time
  forged replayed too-large cut-off too-busy not-text store-silent verifier-failed other-app other-team unverified-team`);

/** The methods that `adapters/slack` calls. `test/manifest.test.ts` names a method that is missing or no longer called. */
export const SLACK_METHODS = words(`
  auth.test bots.info chat.delete chat.getPermalink chat.postEphemeral chat.postMessage chat.update conversations.history
  conversations.info conversations.members conversations.replies files.completeUploadExternal files.getUploadURLExternal
  usergroups.users.list users.conversations users.info users.list views.open views.publish views.update`);

/** The codes of `adapters/store/faults.ts`. */
export const STORE_FAULTS = words(`
  store_busy store_damaged store_denied store_down store_failed store_foreign store_full store_gone store_io store_key_retired store_readonly
  store_slow store_unopened store_untrusted`);
