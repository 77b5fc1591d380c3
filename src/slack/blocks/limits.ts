// Slack's limits that our messages must keep, each with its source.

/** docs.slack.dev, header block: plain_text of at most 150 characters. */
export const HEADER_CHARS = 150;
/** docs.slack.dev, modals: title, submit and close of at most 24 characters. */
export const TITLE_CHARS = 24;
/** docs.slack.dev, chat.update: text over 4,000 characters is refused (chat.postMessage would cut at 40,000). */
export const FALLBACK_CHARS = 3_000;
/** docs.slack.dev, plain_text_input: max_length is at most 3,000. */
export const INPUT_CHARS = 3_000;
/** Not documented: a message of roughly 13,200 counted characters is refused with msg_blocks_too_long. We stay below. */
export const MESSAGE_CHARS = 11_000;
/** A preformatted element holds long text well; smaller pieces keep the drawing quick. Ours. */
export const PIECE_CHARS = 2_900;
/** docs.slack.dev, views: private_metadata of at most 3,000 characters. */
export const METADATA_CHARS = 3_000;
