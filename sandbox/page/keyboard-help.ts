import { html } from "./base/html.ts";
import type { Html } from "./base/html.ts";

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Alt", "1 … 9"], "become the first … ninth person of the bar at the top"],
  [["Alt", "↑ or ↓"], "the channel above or below"],
  [["Alt", "Shift", "1 … 4"], "show or hide Traffic, Service, Scenes, Phone"],
  [["F6"], "the next part of the page; with Shift the one before"],
  [["/"], "in an empty message: the commands; ↑ ↓ choose, Tab or Enter takes one"],
  [["Enter"], "send; with Shift a new line"],
  [["Ctrl", "Enter"], "submit the form"],
  [["Esc"], "close the list, the menu or the form"],
  [["Ctrl", "/"], "this help; outside of a text also ?"],
];

/** The keys are those of a machine with Ctrl and Alt; on a Mac they are ⌘ and ⌥. */
export function keyboardHelp(): Html {
  return html`<dialog data-help aria-labelledby="help-title">
    <header>
      <h2 id="help-title">Keyboard</h2>
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
