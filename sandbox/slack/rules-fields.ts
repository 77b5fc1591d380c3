// Fields that several elements share: addresses, ids, texts, options and confirmations.

import { z } from "zod";
import { flag, list, matching, oneOf, oneWordOf, shape, string, typed } from "./rules-check.ts";

// Values with a format. Slack's errors show which values it checks; the formats come from the documentation.

/** docs.slack.dev: an address can have 3,000 characters. */
const maxAddress = 3000;

const address = (protocols: readonly string[]) =>
  z
    .string({ error: "must be a valid URL" })
    .refine((text) => !/\s/.test(text) && protocols.includes(URL.parse(text)?.protocol ?? ""), {
      error: "must be a valid URL",
    })
    .pipe(string(0, maxAddress));

/** A link that people follow. Other schemes are refused, because the documentation does not say which of them Slack accepts. */
export const link = address(["http:", "https:", "mailto:"]);
/** An address that Slack fetches. */
export const webAddress = address(["http:", "https:"]);

/** A calendar date. */
export const date = z.iso.date({ error: "must be a date as YYYY-MM-DD" });

/** Only the format is checked, not whether the person, channel or group exists. */
export const userId = matching(/^[UW][A-Z0-9]{1,254}$/, "the id of a user");
export const channelId = matching(/^[CGD][A-Z0-9]{1,254}$/, "the id of a conversation");
export const usergroupId = matching(/^S[A-Z0-9]{1,254}$/, "the id of a user group");

// Composition objects.

/** @slack/types PlainTextElement and MrkdwnElement: 1 to 3000 characters, unless the field has a lower limit. */
export const plain = (max: number) => typed("plain_text", { text: string(1, max) }, { emoji: flag });
export const mrkdwn = (max: number) => typed("mrkdwn", { text: string(1, max) }, { verbatim: flag });

export const plainText = (max: number) => oneOf(plain(max));
export const anyText = (max: number) => oneOf(plain(max), mrkdwn(max));

/** @slack/types Option: text, value and description have 75 characters each. The description is plain text. */
const optionWith = (text: z.ZodType) =>
  shape({ text, value: string(1, 75) }, { description: plainText(75), url: link });

/** @slack/types: the options of a menu are plain text. Radio buttons and checkboxes also accept mrkdwn. */
export const menuOption = optionWith(plainText(75));
export const choiceOption = optionWith(anyText(75));

/** @slack/types OptionGroup: label 75, 100 options. */
export const optionGroup = shape({ label: plainText(75), options: list(menuOption, 1, 100) });

/** @slack/types ConfirmationDialog: title 100, text 300, buttons 30. */
export const confirmation = shape(
  { text: anyText(300) },
  {
    title: plainText(100),
    confirm: plainText(30),
    deny: plainText(30),
    style: oneWordOf(["primary", "danger"]),
  },
);

/** @slack/types Actionable: action_id 255. */
export const actionable = { action_id: string(1, 255) };
/** @slack/types Confirmable, Focusable. */
export const picking = { ...actionable, confirm: confirmation, focus_on_load: flag };
/** @slack/types Placeholdable: 150. */
export const menu = { ...picking, placeholder: plainText(150) };
