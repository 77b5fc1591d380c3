// A sample of everything that the emulator's rules allow. A rule without a sample here fails `drawing.test.ts`.
import type { Json } from "#sandbox/slack/json-object.ts";

export const plain = (text: string): Json => ({ type: "plain_text", text });
export const mrkdwn = (text: string): Json => ({ type: "mrkdwn", text });

const option = (n: number): Json => ({
  text: plain(`Option ${n}`),
  value: `o${n}`,
  description: plain(`The ${n}.`),
});
const [one, two] = [option(1), option(2)];
const options = [one, two];
const confirm = { title: plain("Really?"), text: mrkdwn("It is *done* then."), style: "danger" };
const image: Json = { type: "image", image_url: "https://example.com/p.png", alt_text: "A chart" };
const text = (words: string, style?: Json): Json => ({ type: "text", text: words, ...(style && { style }) });
const section = (...elements: Json[]): Json => ({ type: "rich_text_section", elements });
export const richText = (...elements: Json[]): Json => ({ type: "rich_text", elements });

/** Each block with the words that identify its drawing. */
export const ELEMENTS: Readonly<Record<string, readonly [sample: Json, shows: string]>> = {
  button: [{ text: plain("Press"), value: "v", style: "primary", confirm }, "Press"],
  static_select: [{ option_groups: [{ label: plain("Group A"), options }], initial_option: two }, "Group A"],
  users_select: [{ placeholder: plain("Whom?"), initial_user: "U0BEN" }, "Ben Okafor"],
  radio_buttons: [{ options, initial_option: one, confirm }, "Option 2"],
  checkboxes: [{ options, initial_options: [two] }, "The 2."],
  plain_text_input: [{ multiline: true, initial_value: "typed before", max_length: 9 }, "typed before"],
  image: [image, "A chart"],
  overflow: [{ options: [one, { ...two, url: "https://example.com" }], confirm }, "Option 1"],
  channels_select: [{ initial_channel: "C0RELEASES" }, "#releases"],
  conversations_select: [{ default_to_current_conversation: true }, "🔒 payments-ops"],
  multi_static_select: [{ options, initial_options: [one], max_selected_items: 1 }, "At most 1."],
  multi_users_select: [{ initial_users: ["U0BEN"], confirm }, "Cat Lindqvist"],
  datepicker: [{ initial_date: "2026-11-12" }, "2026-11-12"],
};

export const PIECES: Readonly<Record<string, readonly [sample: Json, shows: string]>> = {
  text: [
    text("said", { bold: true, italic: true, strike: true, underline: true, highlight: true }),
    "<mark>",
  ],
  link: [{ url: "https://example.com/x", text: "a link" }, 'href="https://example.com/x"'],
  emoji: [{ name: "made_up", unicode: "1f468-200d-1f4bb" }, "👨‍💻"],
  user: [{ user_id: "U0BEN" }, "@Ben Okafor"],
  usergroup: [{ usergroup_id: "S0APPROVERS" }, "@approvers"],
  channel: [{ channel_id: "C0RELEASES" }, "#releases"],
  team: [{ team_id: "T0SANDBOX" }, "T0SANDBOX"],
  broadcast: [{ range: "here" }, "@here"],
  color: [{ value: "#ff8800" }, 'fill="#ff8800"'],
  date: [{ timestamp: 1_794_487_080, format: "{date_num} {time}" }, "2026-11-12 12:38"],
};

const piece = (type: string): Json => ({ type, ...PIECES[type]?.[0] });

export const PARTS: Readonly<Record<string, readonly [sample: Json, shows: string]>> = {
  rich_text_section: [{ elements: Object.keys(PIECES).map(piece) }, "@here"],
  rich_text_list: [
    { style: "ordered", indent: 2, offset: 2, border: 1, elements: [section(text("third"))] },
    'start="3"',
  ],
  rich_text_quote: [{ elements: [text("quoted")], border: 1 }, "<blockquote"],
  rich_text_preformatted: [{ elements: [text("code")], language: "ts" }, 'data-language="ts"'],
};

const every = (types: readonly string[]): Json[] =>
  types.map((type, i) => ({ type, action_id: `a${i}`, ...ELEMENTS[type]?.[0] }));

const cell = (words: string): Json => ({ type: "raw_text", text: words });
const rows = [
  [cell("Service"), cell("Errors")],
  [richText(section(text("billing"))), { type: "raw_number", value: 7, text: "7" }],
];

/** Returns the elements. `inActions` lists the types of elements that an actions block may contain. */
export const blocksWith = (
  inActions: readonly string[],
): Readonly<Record<string, readonly [sample: Json, shows: string]>> => ({
  section: [{ text: mrkdwn("*bold* words"), fields: [mrkdwn("a field"), plain("another")] }, "a field"],
  header: [{ text: plain("A header :tada:") }, "🎉"],
  context: [{ elements: [image, mrkdwn("small _print_"), plain("plain")] }, "small"],
  actions: [{ elements: every(inActions).slice(0, 25) }, "Press"],
  divider: [{}, "<hr"],
  rich_text: [{ elements: Object.entries(PARTS).map(([type, [sample]]) => ({ type, ...sample })) }, "third"],
  input: [
    {
      label: plain("A label"),
      hint: plain("A hint"),
      optional: true,
      element: { type: "plain_text_input", action_id: "i" },
    },
    "A hint",
  ],
  markdown: [{ text: "# One\n\n- [x] done\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n```ts\nlet x;\n```" }, "☑"],
  image: [{ ...image, title: plain("Its title") }, "Its title"],
  alert: [{ text: mrkdwn("Look out"), level: "warning" }, "⚠️"],
  data_table: [{ caption: "Faults", rows, row_header_column_index: 0 }, '<th scope="row"'],
  table: [{ rows, column_settings: [{ align: "left" }, { align: "right" }] }, 'data-align="right"'],
});
