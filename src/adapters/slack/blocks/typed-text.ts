// What a person typed that was refused. The window that refuses it replaces the form, so it shows the text again, for copying.

import type { RichTextBlock, View } from "@slack/types";
import { MAX_REASON_CHARS } from "../../../domain/authorization.ts";
import { shortened } from "../../../domain/text/excerpt.ts";
import { boxes, line, rich, span } from "./rich.ts";

/** Returns no block if the person typed nothing. */
export function typedPart(texts: readonly string[], atMost = MAX_REASON_CHARS): RichTextBlock[] {
  const typed = texts.filter((text) => text.trim() !== "");
  if (typed.length === 0) return [];
  return [
    rich(line(span("You typed:")), ...typed.flatMap((text) => boxes(shortened(text, atMost, "masked")))),
  ];
}

/** Adds the text behind the first block of the window, which says what happened. */
export function withTypedText(view: View, typed: string): View {
  const [what, ...others] = view.blocks;
  return what === undefined ? view : { ...view, blocks: [what, ...typedPart([typed]), ...others] };
}
