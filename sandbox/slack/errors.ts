// Every error of the emulated Slack: its code, when it is returned, and where that is documented.

/** "third party": observed by others on the real Slack. "guess": documented nowhere; the sandbox is strict on purpose. */
export type Source =
  `${"docs.slack.dev" | "@slack/types 3.2" | "slack-api-ref" | "slack_kit" | "third party" | "guess" | "the sandbox"}${string}`;

type Row = readonly [when: string, source: Source];

/** slack-api-ref and slack_kit are copies of the documentation of the methods, including their errors. */
const calling = {
  unknown_method: [
    "the method does not exist, or the sandbox does not imitate it",
    "docs.slack.dev, Web API",
  ],
  not_authed: ["no token in the header or the body", "slack-api-ref"],
  invalid_auth: ["an unknown token", "slack-api-ref"],
  not_allowed_token_type: ["a bot token where an app token is needed, or vice versa", "slack-api-ref"],
  missing_scope: ["the manifest does not request the scope; with needed and provided", "slack-api-ref"],
  invalid_arguments: ["an argument is missing, of the wrong type or out of range", "slack-api-ref"],
  missing_argument: ["files.getUploadURLExternal with a length of 0", "slack-api-ref"],
  missing_post_type: ["a body without a Content-Type", "slack-api-ref"],
  invalid_post_type: ["a Content-Type that Slack does not read", "slack-api-ref"],
  invalid_form_data: ["a multipart body that is not a form", "slack-api-ref"],
  invalid_json: ["a JSON body that does not parse", "docs.slack.dev, Web API"],
  json_not_object: ["a JSON body that is not an object", "docs.slack.dev, Web API"],
  insecure_request: ["apps.connections.open called with GET", "slack_kit"],
} as const satisfies Record<string, Row>;

const messages = {
  channel_not_found: ["the channel does not exist, or is private and the app is not in it", "slack-api-ref"],
  not_in_channel: ["the app is not a member", "slack-api-ref"],
  is_archived: ["a post to an archived channel", "slack-api-ref"],
  is_inactive: ["a change of a message in an archived channel", "slack-api-ref"],
  messages_tab_disabled: ["a direct message from an app whose manifest turns the tab off", "slack-api-ref"],
  no_text: ["neither text nor blocks; a blank text counts as none", "slack-api-ref; for blank texts a guess"],
  msg_too_long: [
    "a text of more than 4,000 characters in chat.update, or Markdown of more than 12,000",
    "slack-api-ref",
  ],
  msg_blocks_too_long: ["blocks with more than about 13,200 counted characters", "slack_kit"],
  markdown_text_conflict: ["markdown_text together with text or blocks", "slack_kit"],
  invalid_blocks: ["a block breaks a rule; each message names the place", "slack-api-ref"],
  invalid_blocks_format: ["blocks that are not a JSON array", "slack-api-ref"],
  invalid_metadata_format: ["metadata that is not a JSON object", "slack-api-ref"],
  invalid_metadata_schema: ["metadata without event_type or event_payload", "slack-api-ref"],
  invalid_thread_ts: ["a thread_ts that is not a timestamp", "third party: jenkinsci/slack-plugin#584"],
  cannot_reply_to_message: ["a thread_ts that belongs to a reply", "guess: the docs say never to do it"],
  user_not_in_channel: ["an ephemeral message to someone who is not in the channel", "slack-api-ref"],
  message_not_found: ["no message with this timestamp; ephemeral messages are not found", "slack-api-ref"],
  cant_update_message: ["chat.update of someone else's message", "slack-api-ref"],
  cant_delete_message: ["chat.delete of someone else's message", "slack-api-ref"],
} as const satisfies Record<string, Row>;

const views = {
  invalid_trigger_id: ["a trigger_id that Slack never issued", "slack-api-ref"],
  expired_trigger_id: ["a trigger_id older than three seconds", "slack-api-ref"],
  exchanged_trigger_id: ["a trigger_id that has already opened a view", "slack-api-ref"],
  not_found: ["the view is closed, or never existed", "slack-api-ref"],
  hash_conflict: ["the view has changed since this hash", "slack-api-ref"],
  push_limit_reached: ["a fourth view on the stack", "slack-api-ref"],
  duplicate_external_id: ["another view has this external_id", "slack-api-ref"],
  view_too_large: ["a view larger than 250 kB", "slack-api-ref"],
  not_enabled: ["views.publish when the manifest does not enable the Home tab", "slack-api-ref"],
} as const satisfies Record<string, Row>;

const reading = {
  invalid_cursor: ["a cursor that no listing has returned", "slack-api-ref"],
  invalid_limit: ["conversations.members with a limit out of range", "slack-api-ref"],
  invalid_ts_oldest: ['"oldest" is not a timestamp', "slack-api-ref"],
  invalid_ts_latest: ['"latest" is not a timestamp', "slack-api-ref"],
  thread_not_found: ["conversations.replies of a message that does not exist", "slack-api-ref"],
  user_not_found: ["the person does not exist", "slack-api-ref"],
  bot_not_found: ["bots.info of an unknown bot", "slack_kit"],
  user_disabled: ["conversations.open with a deactivated person", "slack-api-ref"],
  cannot_dm_bot: [
    "conversations.open with a bot, including the app itself",
    "third party: errbotio/err-backend-slackv3; for the app itself a guess",
  ],
  users_list_not_supplied: ["conversations.open with neither channel nor users", "slack-api-ref"],
  method_not_supported_for_channel_type: ["conversations.open of a channel", "slack-api-ref"],
  no_such_subteam: ["the user group does not exist, or is disabled and was not requested", "slack-api-ref"],
} as const satisfies Record<string, Row>;

const filesAndReactions = {
  file_not_found: [
    "completing a file that was not announced, not uploaded or already completed",
    "slack-api-ref",
  ],
  file_upload_size_restricted: ["a file larger than 1 GB", "slack-api-ref"],
  snippet_too_large: ["a snippet larger than 1 MB", "slack-api-ref"],
  alt_txt_too_large: ["a description of more than 1,000 characters", "slack-api-ref"],
  channels_limit_exceeded: ["a file for more than 100 channels", "slack-api-ref"],
  invalid_name: ["a reaction with an invalid emoji name", "slack-api-ref"],
  already_reacted: ["the same reaction twice", "slack-api-ref"],
  no_reaction: ["removing a reaction that does not exist", "slack-api-ref"],
} as const satisfies Record<string, Row>;

/** Slack's codes are not documented. Its clients report the status codes 404 and 400. */
const answering = {
  invalid_url: ["a response_url that Slack never issued", "guess"],
  expired_url: ["a response_url older than 30 minutes", "guess"],
  used_url: ["the sixth use of a response_url", "guess"],
  invalid_payload: [
    "an answer to a response_url that is not a JSON object, or that deletes the original and also contains a message",
    "guess",
  ],
  invalid_response_type: ["a response_type other than ephemeral and in_channel", "guess"],
  invalid_response_action: ["a view_submission acknowledged with an unknown response_action", "guess"],
  invalid_errors: ["errors for a block that is not an input of the view", "guess"],
} as const satisfies Record<string, Row>;

export const errors = { ...calling, ...messages, ...views, ...reading, ...filesAndReactions, ...answering };

export type Code = keyof typeof errors;

/** An error of Slack: HTTP 200, `ok: false` and this error code. */
export class Refused extends Error {
  readonly code: Code;
  readonly more: Record<string, unknown>;

  constructor(code: Code, more: Record<string, unknown> = {}) {
    super(code);
    this.code = code;
    this.more = more;
  }
}

/** An error with the messages that Slack puts in `response_metadata.messages`. */
export const refusedWith = (code: Code, messages: readonly string[]): Refused =>
  new Refused(code, { response_metadata: { messages: messages.map((message) => `[ERROR] ${message}`) } });

/** Too many calls. Answered with HTTP 429. */
export class RateLimited extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super("ratelimited");
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
