// Label values that are exposed with 0 from the start, so that the first event is an increase. Other values appear when they first occur.

const words = (text: string): string[] => text.trim().split(/\s+/);

/** The outcomes of each effect on success. Any effect can also be postponed, refused or left unclear. */
const SUCCESSES: { readonly [effect: string]: string } = {
  "create-run": "created",
  post: "posted",
  find: "found",
  update: "updated gone",
  sweep: "swept",
  upload: "uploaded",
  share: "shared gone",
  "find-file": "file-found",
  "send-decision": "confirmed elsewhere unproven",
  "send-notice": "told",
  "count-approvers": "counted",
  "look-up-precedents": "precedents",
  "look-up-requester": "groups-known",
};
const FAILURES = "later refused unsure";

const outcomesOf = (effect: string): string[] => words(`${SUCCESSES[effect] ?? ""} ${FAILURES}`);

export const EFFECT_OUTCOMES = Object.keys(SUCCESSES).flatMap((effect) =>
  outcomesOf(effect).map((outcome) => [effect, outcome]),
);

export const DECISION_OUTCOMES = outcomesOf("send-decision");

export const POLL_OUTCOMES = words(`
  snapshot missing timeout connection_refused connect_timeout dns tls unreachable reset garbled too_large paused
  http_401 http_429 http_500 http_502 http_503 http_504`);

/** The refusals of `domain/authorization.ts` and `usecases/access.ts`. */
export const REFUSALS = words(`
  requester guest outsider bot deactivated not-in-channel not-approver unverified already-voted part-filled undone reopened read-first
  word-needed not-all-shown stopped frozen too-late not-yours already-decided closed changed unknown form-changed being-posted
  verdict-needed reason-needed reason-too-short reason-too-long no-runs-here not-starter saved-task-gone saved-task-changed saved-task-unfinished not-your-task not-freezer not-auditor not-admin
  not-a-channel unknown-run`);

/** The reasons of our HTTP server, `adapters/slack/request-verifier.ts` and `adapters/slack/workspace-check.ts`. */
export const REJECTIONS = words(`
  no-http too-slow too-many too-many-headers other-path other-method other-content unsigned malformed-signature out-of-time
  forged replayed too-large cut-off too-busy not-text store-silent verifier-failed other-app other-team unverified-team`);

export const SLACK_METHODS = words(`
  auth.test bots.info chat.delete chat.getPermalink chat.postEphemeral chat.postMessage chat.update conversations.history
  conversations.info conversations.members conversations.replies files.completeUploadExternal files.getUploadURLExternal
  usergroups.users.list users.conversations users.info users.list views.open views.publish views.update`);

/** The codes of `adapters/store/faults.ts`. */
export const STORE_FAULTS = words(`
  store_busy store_damaged store_denied store_down store_failed store_foreign store_full store_gone store_io store_readonly
  store_slow store_unopened store_untrusted`);
