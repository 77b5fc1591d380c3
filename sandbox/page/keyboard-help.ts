import { html } from "./base/html.ts";
import type { Html } from "./base/html.ts";

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Alt", "1 … 9"], "switch to the first … ninth person in the top bar"],
  [["Alt", "↑ or ↓"], "go to the channel above or below, except in a menu, a form or typed text"],
  [["Alt", "Shift", "1 … 4"], "show or hide Traffic, Service, Scenes, Phone"],
  [["F6"], "go to the next part of the page; with Shift, to the previous one"],
  [["/"], "in an empty message: list the commands; ↑ ↓ select, Tab or Enter inserts"],
  [["Enter"], "send; with Shift, start a new line"],
  [["Ctrl", "Enter"], "submit the form"],
  [["Esc"], "close the list, the menu or the form"],
  [["Ctrl", "/"], "show this help; outside a text field, ? works, too"],
];

/** Names the keys of a PC. A note says which keys a Mac has instead. */
export function keyboardHelp(): Html {
  return html`<dialog data-help aria-labelledby="help-title">
    <header>
      <h2 id="help-title">Keyboard shortcuts</h2>
      <button type="button" data-look="bare" data-help-close aria-label="Close">✕</button>
    </header>
    <dl>
      ${KEYS.map(
        ([keys, does]) =>
          html`<div>
            <dt>${keys.map((key, i) => html`${i > 0 ? " + " : null}<kbd>${key}</kbd>`)}</dt>
            <dd>${does}</dd>
          </div>`,
      )}
    </dl>
    <p data-note>On a Mac, Alt is ⌥ and Ctrl is ⌘.</p>
  </dialog>`;
}
