// Elements that offer a choice: menus, radio buttons and checkboxes.

import {
  both,
  type Fields,
  flag,
  integer,
  list,
  row,
  type Rows,
  type Rule,
  shape,
  string,
} from "./rules-check.ts";
import {
  actionable,
  choiceOption,
  confirmation,
  exactlyOne,
  initialIsOffered,
  menu,
  menuOption,
  optionGroup,
  picking,
} from "./rules-fields.ts";
import { channelId, userId } from "./rules-values.ts";

const users = list(userId, 1, 100);

/** @slack/types MaxItemsSelectable: at least 1. */
const several: Fields = { ...menu, max_selected_items: integer(1, 1000) };

const offers: Fields = { options: list(menuOption, 1, 100), option_groups: list(optionGroup, 1, 100) };

const listed = (fields: Fields): Rule =>
  shape({}, { ...offers, ...fields }, both(exactlyOne("options", "option_groups"), initialIsOffered));

const choices = (initial: Fields): Rule =>
  shape({ options: list(choiceOption, 1, 10) }, { ...picking, ...initial }, initialIsOffered);

const conversations: Fields = {
  default_to_current_conversation: flag,
  filter: shape(
    {},
    {
      include: list(string(1, 20, ["im", "mpim", "private", "public"]), 1, 4),
      exclude_external_shared_channels: flag,
      exclude_bot_users: flag,
    },
  ),
};

const one = (more: Fields): Rule => shape({}, { ...menu, ...more });
const many = (more: Fields): Rule => shape({}, { ...several, ...more });

export const menus: Rows = {
  static_select: row("@slack/types 3.2, StaticSelect", listed({ ...menu, initial_option: menuOption })),
  multi_static_select: row(
    "@slack/types 3.2, MultiStaticSelect",
    listed({ ...several, initial_options: list(menuOption, 1, 100) }),
  ),
  users_select: row("@slack/types 3.2, UsersSelect", one({ initial_user: userId })),
  multi_users_select: row("@slack/types 3.2, MultiUsersSelect", many({ initial_users: users })),
  channels_select: row(
    "@slack/types 3.2, ChannelsSelect",
    one({ initial_channel: channelId, response_url_enabled: flag }),
  ),
  conversations_select: row(
    "@slack/types 3.2, ConversationsSelect",
    one({ ...conversations, initial_conversation: channelId, response_url_enabled: flag }),
  ),
  radio_buttons: row("@slack/types 3.2, RadioButtons", choices({ initial_option: choiceOption })),
  checkboxes: row("@slack/types 3.2, Checkboxes", choices({ initial_options: list(choiceOption, 1, 10) })),
  overflow: row(
    "@slack/types 3.2, Overflow",
    shape({ options: list(menuOption, 1, 5) }, { ...actionable, confirm: confirmation }),
  ),
};
