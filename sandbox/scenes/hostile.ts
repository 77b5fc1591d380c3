import { viewWords, wordsOf } from "../control/surface-text.ts";
import type { Scene } from "./engine.ts";
import { tricksIn } from "./inert.ts";
import { ana, cat } from "./stage.ts";

export const hostile: Scene = {
  name: "hostile",
  title: "Hostile text",
  what: "A run asks with a text that tries to fool its reader: mentions, false links, hidden and reversed letters.",
  lesson:
    "An agent's request is untrusted text. Countersign shows it as plain text and makes hidden characters visible, so an approver decides on what is really there.",
  async play(stage) {
    const reason = "No. <!channel> *This* looks like <https://evil.example|an attack>.";
    await stage.say('Ana asks for a run: "review the hostile text of a stranger".', ana);
    const asked = await stage.ask(ana, "review the hostile text of a stranger");
    const card = await stage.cardOf(asked);
    await stage.say(
      'Look at the card: nobody is called by <!channel>, no link leads anywhere, no "Approved by" is believed.',
    );
    for (const trick of [
      "<!channel>",
      "<https://evil.example/login|https://bank.example>",
      "Approved by <@U0000001>",
    ])
      stage.check(wordsOf(card.blocks).includes(trick), `the card shows "${trick}" as it was sent`);
    const form = await stage.open(cat, card, "Deny");
    await stage.say(
      "Cat opens the form: what was hidden is made visible, such as ⟨U+202E⟩, which turns the text around.",
      cat,
    );
    for (const mark of ["⟨U+202E⟩", "⟨U+200B⟩", "⟨U+0000⟩"])
      stage.check(viewWords(form).includes(mark), `the form shows ${mark}`);
    const inForm = tricksIn({ text: "", blocks: form.view.blocks }, stage.people);
    stage.check(inForm.length === 0, `the form is not tricked, but has ${inForm.join(" and ")}`);
    stage.check((await stage.submit(cat, reason, form)) === null, "Cat's form closes");
    await stage.becomes(card, "state:denied", reason);
    const end = await stage.saidIn(asked, "outcome:succeeded");
    await stage.say("Cat denies, with marks of her own in the reason. They stay plain text too.");
    const messages = [asked.opening, ...stage.threadOf(asked)];
    const tricks = messages.flatMap((each) => tricksIn(each, stage.people));
    stage.check(tricks.length === 0, `no message is tricked, but one has ${tricks.join(" and ")}`);
    stage.check(stage.sent(asked)[0]?.reason === reason, "the reason reached the service letter for letter");
    stage.check(wordsOf(end.blocks).includes("<!channel>"), "the run's output shows the text, too");
    return `Looked at: the form and all ${messages.length} messages of the thread. No link, image, emoji, mention or Slack markup came of the text, and no unseen character is left in them. Cat's reason reached the service letter for letter.`;
  },
};
