// Which clicks have had their form. Slack delivers a click again when its acknowledgement is lost, and lets each click open one
// form: the second delivery must not read that none was opened.

/** So many clicks are remembered. After a restart nothing is known of earlier ones. */
const REMEMBERED = 1_000;

export type OpenedForms = {
  /** "again": this click has a form already. Rejects with what `act` rejects with. */
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
