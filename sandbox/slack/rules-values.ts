// Values with a format: addresses, dates and ids. Slack's refusals show which of them it checks. The formats
// are those of the documentation.

import { matching } from "./rules-check.ts";
import type { Rule } from "./rules-check.ts";

/** docs.slack.dev: 3,000 characters of every address. */
const maxAddress = 3000;

const address =
  (protocols: readonly string[], what: string): Rule =>
  (value, at, report) => {
    const read = typeof value === "string" && !/\s/.test(value) ? URL.parse(value) : null;
    if (!read || !protocols.includes(read.protocol)) return report(`must be ${what}`, at);
    if (String(value).length > maxAddress) report(`must be less than ${maxAddress + 1} characters`, at);
  };

/** A link for people. Other schemes are refused: which of them Slack accepts is not documented. */
export const link: Rule = address(["http:", "https:", "mailto:"], "a valid URL");
/** An address that Slack fetches. */
export const webAddress: Rule = address(["http:", "https:"], "a valid URL");

/** A date of the calendar. */
export const date: Rule = (value, at, report) => {
  const read = typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(value) : NaN;
  // `Date.parse` reads a day after the end of a month as a day of the next one.
  if (Number.isNaN(read) || new Date(read).toISOString().slice(0, 10) !== value)
    report("must be a date as YYYY-MM-DD", at);
};

/** Whether the person or channel exists is not checked. */
export const userId: Rule = matching(/^[UW][A-Z0-9]{1,254}$/, "the id of a user");
export const channelId: Rule = matching(/^[CGD][A-Z0-9]{1,254}$/, "the id of a conversation");
export const usergroupId: Rule = matching(/^S[A-Z0-9]{1,254}$/, "the id of a user group");
