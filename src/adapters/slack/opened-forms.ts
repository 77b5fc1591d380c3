// Remembers which clicks have opened a form. Slack lets each click open one form, and delivers a click again when its
// acknowledgement is lost. The second delivery must not tell the person that no form was opened.

/** How many clicks we remember, in memory only: a restart forgets them. */
const REMEMBERED = 1_000;

export type OpenedForms = {
  /** "again": this click has opened a form before. Rejects with the error of `act`. */
  open(trigger: string, act: () => Promise<unknown>): Promise<"opened" | "again">;
};

export function createOpenedForms(): OpenedForms {
  const forms = new Map<string, Promise<unknown>>();
  return {
    async open(trigger, act) {
      const before = forms.get(trigger);
      if (before !== undefined && (await succeeds(before))) return "again";
      const acting = act();
      forms.delete(trigger);
      forms.set(trigger, acting);
      const [oldest] = forms.keys();
      if (forms.size > REMEMBERED && oldest !== undefined) forms.delete(oldest);
      await acting;
      return "opened";
    },
  };
}

async function succeeds(act: Promise<unknown>): Promise<boolean> {
  return act.then(
    () => true,
    () => false,
  );
}
