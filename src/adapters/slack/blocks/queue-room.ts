// How much of a queue fits on one page. Slack refuses a message with too many characters, so a page with long rows has fewer of them.

import type { QueueItem } from "../../../domain/queue.ts";
import { LINK_CHARS, queueBlocks, type QueuePage, requestRow } from "./queue-list.ts";
import { countedLength, MESSAGE_CHARS } from "./rich.ts";

/** Requests per page. With the filters and the person's own runs, this keeps the Home tab below 100 blocks and an answer below 50. */
const PAGE_SIZE = 15;
/** The heading above the requests that wait for others, and the numbers of the pages. */
const HEADINGS_CHARS = 200;

/**
 * Cuts the requests into pages that fit, each starting where the one before ends. `first` is the first page without its rows. There is always
 * one page, and each page of several has at least one request.
 */
export function cutIntoPages(
  items: readonly QueueItem[],
  first: QueuePage,
): readonly [readonly QueueItem[], ...(readonly QueueItem[])[]] {
  const pages: [QueueItem[], ...QueueItem[][]] = [[]];
  let page = pages[0];
  let left = roomOn({ ...first, pages: 2 });
  const further = roomOn({ ...first, groups: [], page: 1, pages: 3 });
  for (const item of items) {
    const chars = countedLength(requestRow({ item, link: LONGEST_LINK, review: "" }));
    if (page.length === PAGE_SIZE || (page.length > 0 && chars > left)) {
      page = [];
      pages.push(page);
      left = further;
    }
    page.push(item);
    left -= chars;
  }
  return pages;
}

const roomOn = (page: QueuePage): number => MESSAGE_CHARS - HEADINGS_CHARS - countedLength(queueBlocks(page));

/** Pages are cut before the links are known, so that every page is cut alike. */
const LONGEST_LINK = "x".repeat(LINK_CHARS);

/** Leaves out the last rows below the requests until the page fits. The page says how many are left out. */
export function fitted(page: QueuePage): QueuePage {
  if (countedLength(queueBlocks(page)) <= MESSAGE_CHARS) return page;
  if (page.undelivered.length > 0) return fitted({ ...page, undelivered: page.undelivered.slice(0, -1) });
  if (page.unreadable.length > 0) return fitted({ ...page, unreadable: page.unreadable.slice(0, -1) });
  return page;
}
