// Slack's limits that our messages must keep, each with its source.

/** docs.slack.dev, plain_text_input: max_length is at most 3,000. */
export const INPUT_CHARS = 3_000;
/** A preformatted element holds long text well; smaller pieces keep the drawing quick. Ours. */
export const PIECE_CHARS = 2_900;
