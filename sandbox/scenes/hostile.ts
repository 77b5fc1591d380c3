import { viewWords, wordsOf } from "../control/surface-text.ts";
import type { Scene } from "./engine.ts";
import { tricksIn } from "./inert.ts";
import { ana, cat } from "./stage.ts";

export const hostile: Scene = {
  name: "hostile",
  title: "Hostile text",
  what: "A run's request tries to fool its reader with mentions, fake links, and hidden or reversed characters.",
  lesson:
    "An agent's request is untrusted text. Countersign shows it as plain text and makes hidden characters visible, so approvers see what is really there.",
  async play(stage) {
    const reason = "No. <!channel> *This* looks like <https://evil.example|an attack>.";
    await stage.say('Ana starts a run: "review the hostile text of a stranger".', ana);
    const asked = await stage.ask(ana, "review the hostile text of a stranger");
    const card = await stage.cardOf(asked);
    await stage.say(
      'Look at the card: <!channel> notifies no one, the links are not clickable, and the fake "Approved by" is only text.',
    );
    for (const trick of [
      "<!channel>",
      "<https://evil.example/login|https://bank.example>",
      "Approved by <@U0000001>",
    ])
      stage.check(wordsOf(card.blocks).includes(trick), `the card shows "${trick}" as it was sent`);
    const form = await stage.open(cat, card, "Deny");
    await stage.say(
      "Cat opens the form: hidden characters are now visible, such as ⟨U+202E⟩, which reverses the text after it.",
      cat,
    );
    for (const mark of ["⟨U+202E⟩", "⟨U+200B⟩", "⟨U+0000⟩"])
      stage.check(viewWords(form).includes(mark), `the form shows ${mark}`);
    const inForm = tricksIn({ text: "", blocks: form.view.blocks }, stage.people);
    stage.check(inForm.length === 0, `the form shows plain text only, but it has ${inForm.join(" and ")}`);
    stage.check((await stage.submit(cat, reason, form)) === null, "Cat's form closes");
    await stage.becomes(card, "state:denied", reason);
    const end = await stage.saidIn(asked, "outcome:succeeded");
    await stage.say("Cat denies, with markup in her own reason. It stays plain text, too.");
    const messages = [asked.opening, ...stage.threadOf(asked)];
    const tricks = messages.flatMap((message) => tricksIn(message, stage.people));
    stage.check(
      tricks.length === 0,
      `every message shows plain text only, but one has ${tricks.join(" and ")}`,
    );
    stage.check(stage.sent(asked)[0]?.reason === reason, "the reason reached the service word for word");
    stage.check(wordsOf(end.blocks).includes("<!channel>"), "the run's output shows the text, too");
    return `The scene checked the form and all ${messages.length} messages of the thread. The text produced no link, image, emoji, mention or Slack markup, and no invisible character is left. Cat's reason reached the service word for word.`;
  },
};
