// The points of a run's life at which the process is killed, in order.

import type { Place } from "./hold.ts";
import type { Point } from "./strike.ts";

const TWO = "two approvals for the release";
const HUGE = "huge report";

function at(
  before: Point["before"],
  call: string,
  cut: Place["cut"],
  more: Partial<Point> & { nth?: number } = {},
): Point {
  const { nth = 1, ...rest } = more;
  return { before, place: { call, nth, cut }, ...rest };
}

function together(...[before, call, cut, more]: Parameters<typeof at>): Point {
  return { ...at(before, call, cut, more), task: TWO, together: true };
}

function atReceipt(cut: Place["cut"]): Point {
  return { before: "submit", place: { call: "chat.postMessage", nth: 1, cut, notifications: true } };
}

export const points: { readonly [name: string]: Point } = {
  // /agent run → committed
  "before the command": { before: "command", place: null },
  "asking who typed the command": at("command", "users.info", "lost", { fresh: true }),
  "the answer about who typed the command is lost": at("command", "users.info", "answered", { fresh: true }),
  "asking for the channel": at("command", "conversations.info", "lost", { fresh: true }),

  // the opening
  "the opening is sent and never arrives": at("command", "chat.postMessage", "lost"),
  "the opening is sent and arrives after the death": at("command", "chat.postMessage", "late"),
  "the opening is posted, its answer is lost": at("command", "chat.postMessage", "answered"),

  // the run
  "the run is requested and the request is lost": at("command", "create-run", "lost"),
  "the run is requested and created after the death": at("command", "create-run", "late"),
  "the run is created, the answer is lost": at("command", "create-run", "answered"),
  "the opening's first update is lost": at("command", "chat.update", "lost"),
  "the opening's first update arrives after the death": at("command", "chat.update", "late"),
  "the opening's first update is not answered": at("command", "chat.update", "answered"),
  "the first look is lost": at("command", "read-run", "lost"),
  "the answer to the first look is lost": at("command", "read-run", "answered"),

  // the card
  "the card is sent and never arrives": at("command", "chat.postMessage", "lost", { nth: 2 }),
  "the card is sent and arrives after the death": at("command", "chat.postMessage", "late", { nth: 2 }),
  "the card is posted, its answer is lost": at("command", "chat.postMessage", "answered", { nth: 2 }),
  "the first of two cards is not answered": at("command", "chat.postMessage", "answered", {
    nth: 2,
    task: TWO,
  }),
  "the second of two cards is lost": at("command", "chat.postMessage", "lost", { nth: 3, task: TWO }),
  "the second of two cards arrives after the death": at("command", "chat.postMessage", "late", {
    nth: 3,
    task: TWO,
  }),

  // who can approve; a click relies on this answer
  "asking who can approve": at("command", "users.info", "lost", { fresh: true, nth: 2 }),
  "the answer about who can approve is lost": at("command", "users.info", "answered", {
    fresh: true,
    nth: 2,
  }),

  // click → modal
  "the card is posted and not clicked yet": { before: "click", place: null },
  "the modal is sent and never opens": at("click", "views.open", "lost"),
  "the modal is open, its answer is lost": at("click", "views.open", "answered"),
  "the modal is open and the reason is being typed": { before: "submit", place: null },

  // submit → committed
  "asking who submitted": at("submit", "users.info", "lost", { fresh: true }),
  "the answer about who submitted is lost": at("submit", "users.info", "answered", { fresh: true }),
  "the look at submit is lost": at("submit", "read-run", "lost"),
  "the answer to the look at submit is lost": at("submit", "read-run", "answered"),

  // committed → sent
  "the decision is committed, the look before sending is lost": at("submit", "read-run", "lost", { nth: 2 }),
  "the decision is committed, the answer to the look before sending is lost": at(
    "submit",
    "read-run",
    "answered",
    {
      nth: 2,
    },
  ),
  "the decision is sent and never arrives": at("submit", "decide", "lost"),
  "the decision is sent and arrives after the death": at("submit", "decide", "late"),
  "the decision is received, the answer is lost": at("submit", "decide", "answered"),
  "a denial is sent and never arrives": at("submit", "decide", "lost", { verdict: "deny" }),
  "a denial is received, the answer is lost": at("submit", "decide", "answered", { verdict: "deny" }),
  "one of two decisions is received, the answer is lost": at("submit", "decide", "answered", { task: TWO }),

  // several requests in one form
  "the list of pending requests is published, its answer is lost": together(
    "click",
    "views.publish",
    "answered",
  ),
  "the form of two requests is sent and never opens": together("click", "views.open", "lost"),
  "the form of two requests is open, its answer is lost": together("click", "views.open", "answered"),
  "the form of two requests is open and the reason is being typed": {
    before: "submit",
    place: null,
    task: TWO,
    together: true,
  },
  "asking who submitted the form of two requests": together("submit", "users.info", "lost", { fresh: true }),
  "the look at the submit of two requests is lost": together("submit", "read-run", "lost"),
  "both decisions are committed, the look before sending is lost": together("submit", "read-run", "lost", {
    nth: 2,
  }),
  "one of both decisions is sent and never arrives": together("submit", "decide", "lost"),
  "one of both decisions arrives after the death": together("submit", "decide", "late", { verdict: "deny" }),
  "both decisions are received, the second answer is lost": together("submit", "decide", "answered", {
    nth: 2,
  }),
  "taking the buttons off the first of both is lost": together("submit", "chat.update", "lost"),

  // the card shows the decision
  "taking the buttons off is lost": at("submit", "chat.update", "lost"),
  "taking the buttons off happens after the death": at("submit", "chat.update", "late"),
  "taking the buttons off is not answered": at("submit", "chat.update", "answered"),
  "the confirmation on the card is lost": at("submit", "chat.update", "lost", { nth: 2 }),
  "the confirmation on the card is not answered": at("submit", "chat.update", "answered", { nth: 2 }),

  // the receipt
  "the receipt is sent and never arrives": atReceipt("lost"),
  "the receipt is sent and arrives after the death": atReceipt("late"),
  "the receipt is posted, its answer is lost": atReceipt("answered"),

  // the end
  "the decision is confirmed and the end has not been seen": { before: "end", place: null },
  "the outcome is sent and never arrives": at("end", "chat.postMessage", "lost"),
  "the outcome is sent and arrives after the death": at("end", "chat.postMessage", "late"),
  "the outcome is posted, its answer is lost": at("end", "chat.postMessage", "answered"),
  "the opening's last update is lost": at("end", "chat.update", "lost"),
  "the opening's last update is not answered": at("end", "chat.update", "answered"),

  // a long output
  "the request for a file's address is lost": at("command", "files.getUploadURLExternal", "lost", {
    task: HUGE,
  }),
  "the answer with a file's address is lost": at("command", "files.getUploadURLExternal", "answered", {
    task: HUGE,
  }),
  "a file is shared and never arrives": at("command", "files.completeUploadExternal", "lost", { task: HUGE }),
  "a file is shared after the death": at("command", "files.completeUploadExternal", "late", { task: HUGE }),
  "a file is shared, the answer is lost": at("command", "files.completeUploadExternal", "answered", {
    task: HUGE,
  }),
};
