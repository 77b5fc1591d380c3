// Patterns of a policy: the whole text, with * for any text. No regular expressions: the texts are a stranger's, and some
// expressions take forever on some texts.

import { unseenRemoved } from "./text.ts";

/** What two texts have in common that a reader takes for the same: without invisible characters, whatever the case, form and spaces. */
export function folded(text: string): string {
  return unseenRemoved(text.normalize("NFKC")).toLowerCase().replace(/\s+/g, " ").trim();
}

/** Both are folded. Takes time in proportion to the product of the two lengths at most. */
export function fits(pattern: string, text: string): boolean {
  let [at, star, resume] = [0, -1, 0];
  let here = 0;
  while (here < text.length) {
    if (pattern[at] === "*") {
      [star, resume] = [at, here];
      at += 1;
    } else if (pattern[at] === text[here]) {
      at += 1;
      here += 1;
    } else if (star >= 0) {
      resume += 1;
      [at, here] = [star + 1, resume];
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
}
