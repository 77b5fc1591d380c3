// Common emoji shortcodes. All others are shown as written.
const EMOJI: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "+1": "👍",
    "-1": "👎",
    alarm_clock: "⏰",
    arrow_right: "➡️",
    arrows_counterclockwise: "🔄",
    ballot_box_with_check: "☑️",
    bell: "🔔",
    bulb: "💡",
    calendar: "📅",
    checkered_flag: "🏁",
    clipboard: "📋",
    clock1: "🕐",
    clock3: "🕒",
    construction: "🚧",
    exclamation: "❗",
    eyes: "👀",
    fire: "🔥",
    gear: "⚙️",
    grey_question: "❔",
    hand: "✋",
    heavy_check_mark: "✔️",
    hourglass: "⌛",
    hourglass_flowing_sand: "⏳",
    information_source: "ℹ️",
    key: "🔑",
    large_blue_circle: "🔵",
    large_green_circle: "🟢",
    large_orange_circle: "🟠",
    large_red_circle: "🔴",
    large_yellow_circle: "🟡",
    link: "🔗",
    lock: "🔒",
    mag: "🔍",
    memo: "📝",
    no_entry: "⛔",
    no_entry_sign: "🚫",
    octagonal_sign: "🛑",
    package: "📦",
    page_facing_up: "📄",
    pause_button: "⏸️",
    pushpin: "📌",
    question: "❓",
    raised_hand: "✋",
    red_circle: "🔴",
    repeat: "🔁",
    robot_face: "🤖",
    rocket: "🚀",
    rotating_light: "🚨",
    shield: "🛡️",
    smile: "😄",
    sparkles: "✨",
    speech_balloon: "💬",
    stop_sign: "🛑",
    stopwatch: "⏱️",
    tada: "🎉",
    thinking_face: "🤔",
    thumbsdown: "👎",
    thumbsup: "👍",
    timer_clock: "⏲️",
    unlock: "🔓",
    warning: "⚠️",
    wave: "👋",
    white_check_mark: "✅",
    white_circle: "⚪",
    wrench: "🔧",
    x: "❌",
    zap: "⚡",
    zzz: "💤",
  }),
);

export function emoji(name: string): string | undefined {
  return EMOJI.get(name.replace(/::skin-tone-\d$/, ""));
}

/** Replaces every known `:name:`. */
export function withEmoji(text: string): string {
  return text.replace(/:([a-z0-9_+'-]+):/g, (whole, name: string) => emoji(name) ?? whole);
}

/** Decodes Slack's `unicode` field: hexadecimal code points, separated by hyphens. */
export function fromCodePoints(unicode: string): string | undefined {
  const points = unicode
    .split("-")
    .map((point) => (/^[\da-f]{2,6}$/i.test(point) ? Number.parseInt(point, 16) : -1));
  return points.every((point) => point >= 0 && point <= 0x10ffff)
    ? String.fromCodePoint(...points)
    : undefined;
}
