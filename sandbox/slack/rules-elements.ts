// Block elements: the fields of each, and where it is allowed.

import {
  exactlyOne,
  flag,
  integer,
  list,
  notAbove,
  oneOf,
  oneWordOf,
  shape,
  sources,
  string,
  typed,
  typesOf,
} from "./rules-check.ts";
import {
  actionable,
  channelId,
  choiceOption,
  confirmation,
  date,
  link,
  menu,
  menuOption,
  optionGroup,
  picking,
  plainText,
  userId,
  webAddress,
} from "./rules-fields.ts";

/** The source of an image: a URL, or a Slack file given by id or address. */
export const pictured = {
  image_url: webAddress,
  slack_file: shape({}, { id: string(1, 255), url: webAddress }).refine(...exactlyOne("id", "url")),
};

export const image = typed("image", { alt_text: string(1, 2000) }, pictured)
  .refine(...exactlyOne("image_url", "slack_file"))
  .register(sources, { source: "@slack/types 3.2, ImageElement" });

const button = typed(
  "button",
  { text: plainText(75) },
  {
    ...actionable,
    value: string(0, 2000),
    url: link,
    style: oneWordOf(["primary", "danger"]),
    confirm: confirmation,
    accessibility_label: string(1, 75),
  },
).register(sources, { source: "@slack/types 3.2, Button" });

const overflow = typed(
  "overflow",
  { options: list(menuOption, 1, 5) },
  { ...actionable, confirm: confirmation },
).register(sources, { source: "@slack/types 3.2, Overflow" });

// Menus.

const offers = { options: list(menuOption, 1, 100), option_groups: list(optionGroup, 1, 100) };

/** @slack/types MaxItemsSelectable: at least 1. */
const several = { ...menu, max_selected_items: integer(1, 1000) };

const staticSelect = typed("static_select", {}, { ...offers, ...menu, initial_option: menuOption })
  .refine(...exactlyOne("options", "option_groups"))
  .register(sources, { source: "@slack/types 3.2, StaticSelect" });

const multiStaticSelect = typed(
  "multi_static_select",
  {},
  { ...offers, ...several, initial_options: list(menuOption, 1, 100) },
)
  .refine(...exactlyOne("options", "option_groups"))
  .register(sources, { source: "@slack/types 3.2, MultiStaticSelect" });

const usersSelect = typed("users_select", {}, { ...menu, initial_user: userId }).register(sources, {
  source: "@slack/types 3.2, UsersSelect",
});

const multiUsersSelect = typed(
  "multi_users_select",
  {},
  { ...several, initial_users: list(userId, 1, 100) },
).register(sources, { source: "@slack/types 3.2, MultiUsersSelect" });

const channelsSelect = typed(
  "channels_select",
  {},
  { ...menu, initial_channel: channelId, response_url_enabled: flag },
).register(sources, { source: "@slack/types 3.2, ChannelsSelect" });

const conversationsSelect = typed(
  "conversations_select",
  {},
  {
    ...menu,
    default_to_current_conversation: flag,
    filter: shape(
      {},
      {
        include: list(oneWordOf(["im", "mpim", "private", "public"]), 1, 4),
        exclude_external_shared_channels: flag,
        exclude_bot_users: flag,
      },
    ),
    initial_conversation: channelId,
    response_url_enabled: flag,
  },
).register(sources, { source: "@slack/types 3.2, ConversationsSelect" });

// Radio buttons and checkboxes. A rule of the whole surface checks that initial options are among the options.

const choices = { options: list(choiceOption, 1, 10) };

const radioButtons = typed("radio_buttons", choices, { ...picking, initial_option: choiceOption }).register(
  sources,
  { source: "@slack/types 3.2, RadioButtons" },
);

const checkboxes = typed("checkboxes", choices, {
  ...picking,
  initial_options: list(choiceOption, 1, 10),
}).register(sources, { source: "@slack/types 3.2, Checkboxes" });

// Fields for text and dates.

/** @slack/types DispatchActionConfig. */
const dispatching = shape({
  trigger_actions_on: list(oneWordOf(["on_enter_pressed", "on_character_entered"], 30), 1, 2),
});

const plainTextInput = typed(
  "plain_text_input",
  {},
  {
    ...actionable,
    placeholder: plainText(150),
    focus_on_load: flag,
    dispatch_action_config: dispatching,
    initial_value: string(0, 3000),
    multiline: flag,
    min_length: integer(0, 3000),
    max_length: integer(1, 3000),
  },
)
  .refine(...notAbove("min_length", "max_length"))
  .register(sources, { source: "@slack/types 3.2, PlainTextInput" });

const datepicker = typed("datepicker", {}, { ...menu, initial_date: date }).register(sources, {
  source: "@slack/types 3.2, Datepicker",
});

const pickers = [
  staticSelect,
  multiStaticSelect,
  usersSelect,
  multiUsersSelect,
  channelsSelect,
  conversationsSelect,
  datepicker,
  radioButtons,
  checkboxes,
] as const;

/** @slack/types ActionsBlockElement, SectionBlockAccessory, InputBlockElement. */
export const inActions = oneOf(...pickers, button, overflow);
export const asAccessory = oneOf(...pickers, button, overflow, image);
export const inInput = oneOf(...pickers, plainTextInput);

export const allElements = oneOf(...pickers, button, overflow, image, plainTextInput);
export const elementTypes = typesOf(allElements);
