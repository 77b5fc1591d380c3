// All names that we share with Slack. A test compares them with manifest.yml and with the listeners.

export const CARD_APPROVE = "card_approve";
export const CARD_DENY = "card_deny";
export const CARD_READ = "card_read";
export const CARD_UNDO = "card_undo";
/** "I'm looking at it", and the menu beside it. An option's value consists of the card's nonce and one of the words below. */
export const CARD_CLAIM = "card_claim";
export const CARD_MORE = "card_more";
export const MORE_ASK = "ask";
/** Followed by how often the deadline was extended according to the card. */
export const MORE_EXTEND = "extend";
export const MORE_SNOOZE = "snooze";
export const MORE_HAND_OVER = "hand-over";
export const MORE_RELEASE = "release";
export const QUESTION_ANSWER = "question_answer";
export const WINDOW_UNDO = "window_undo";
/** The start of the id of a card's first block, followed by the name of the card's state. */
export const CARD_STATE_BLOCK = "state:";
export const RUN_STOP = "run_stop";
export const RUN_LIFT = "run_lift";
export const RUN_AGAIN = "run_again";
export const RUN_SUGGESTED = "run_suggested";
export const RECEIPT_NOT_ME = "receipt_not_me";

export const UNKNOWN_START_AGAIN = "unknown_start_again";
export const UNKNOWN_LEAVE = "unknown_leave";

export const DECISION_MODAL = "decision_modal";
/** The window in which the request is read before the form opens. */
export const READING_MODAL = "reading_modal";
export const QUESTION_MODAL = "question_modal";
export const ANSWER_MODAL = "answer_modal";
export const SAID_BLOCK = "said";
export const SAID_INPUT = "said_text";
export const HAND_OVER_MODAL = "hand_over_modal";
export const TAKER_BLOCK = "taker";
export const TAKER_INPUT = "taker_chosen";
export const SNOOZE_MODAL = "snooze_modal";
export const SNOOZE_BLOCK = "snooze_for";
export const SNOOZE_INPUT = "snooze_chosen";
/** The form with several requests, and the window with its results. */
export const REVIEW_MODAL = "review_modal";
export const REVIEW_NEXT_MODAL = "review_next_modal";
/** Followed by the nonce of the request. */
export const REVIEW_BLOCK = "verdict:";
export const VERDICT_BLOCK = "verdict";
export const VERDICT_INPUT = "verdict_chosen";
export const APPROVE_REASON_BLOCK = "reason_approve";
export const DENY_REASON_BLOCK = "reason_deny";
export const REASON_BLOCK = "reason";
export const REASON_INPUT = "reason_text";
/** The menu of reasons that the rule offers for a denial. */
export const PRESET_BLOCK = "preset";
export const PRESET_SELECT = "preset_chosen";
/** The same menu in the form with several requests. */
export const REVIEW_PRESET_SELECT = "review_preset_chosen";
export const WORD_BLOCK = "word";
export const WORD_INPUT = "word_text";

/** The shortcut in the menu of a message. */
export const RUN_ON_MESSAGE = "run_on_message";
export const RUN_FORM = "run_form";
export const TASK_BLOCK = "task";
export const TASK_INPUT = "task_text";
/** The menu of saved tasks, followed by a word that tells its drawings apart. */
export const TASK_MENU_BLOCK = "task_menu";
export const TASK_CHOICE = "task_chosen";
/** Followed by the names of the task and the field. */
export const TASK_FIELD_BLOCK = "task_field:";
export const TASK_FIELD_INPUT = "task_field";
export const CHANNEL_BLOCK = "channel";
export const CHANNEL_INPUT = "channel_chosen";

export const MENTIONED = "app_mention";
export const HOME_OPENED = "app_home_opened";
/** Bolt's name for two events in the manifest, one for public and one for private channels. */
export const MESSAGE = "message";
export const MEMBER_JOINED = "member_joined_channel";
export const HOME_START = "home_start";
export const HOME_REFRESH = "home_refresh";

export const QUEUE_REVIEW = "queue_review";
export const QUEUE_REVIEW_RUN = "queue_review_run";
export const QUEUE_REVIEW_RULE = "queue_review_rule";
/** Review on the notice of a storm, and on messages that call people. Posted messages keep this value, so it must not change. */
export const OPEN_QUEUE = "storm_review";
export const QUEUE_FILTERS = "queue_filters";
export const QUEUE_SHOW = "queue_show";
export const QUEUE_CHANNEL = "queue_channel";
export const QUEUE_CLEAR = "queue_clear";
export const QUEUE_PREVIOUS = "queue_previous";
export const QUEUE_NEXT = "queue_next";
/** The pages of `list`. A button's value is the place of the page's first run, from 0. */
export const RUNS_NEWEST = "runs_newest";
export const RUNS_NEXT = "runs_next";

/**
 * Marks our messages, so that we can find a message whose post got no answer. Other apps can read the metadata, so it contains only ids.
 */
export const METADATA_EVENT = "countersign_message";

export const SUBCOMMANDS = [
  "run",
  "status",
  "list",
  "pending",
  "watch",
  "unwatch",
  "audit",
  "report",
  "freeze",
  "health",
  "help",
] as const;
export type Subcommand = (typeof SUBCOMMANDS)[number];
