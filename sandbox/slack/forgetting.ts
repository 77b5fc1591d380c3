// What was handed out to people and apps, and is long over.

/** Of a map in the order of handing out. */
export const forgetBefore = (issued: Map<string, { readonly at: number }>, moment: number): void => {
  for (const [key, { at }] of issued) {
    if (at >= moment) return;
    issued.delete(key);
  }
};
