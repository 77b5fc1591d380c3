// What people may write at most: texts of 3,000 characters that are longer as Slack counts them, or as we draw them.

const filled = (text: string): string => text.repeat(3_000).slice(0, 2_999).padEnd(3_000, ".");

export const LONG_TEXTS: readonly (readonly [string, string])[] = [
  ["words that need a joiner in Persian", filled("این درخواست را نمی\u200Cتوانم بپذیرم. ")],
  ["code with & < >", filled("if (a < b && c > d) stop();\n")],
  ["letters of several scripts in one word", filled("pаypal.com ")],
  ["hardly anything visible", filled("\u200C")],
];
