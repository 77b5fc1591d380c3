// Auto-escaping templates: every value in an `html` template is escaped, unless it was made by `html` itself.

/** A class, so that an object parsed from JSON can never be taken for markup. */
export class Html {
  readonly #markup: string;
  constructor(markup: string) {
    this.#markup = markup;
  }
  toString(): string {
    return this.#markup;
  }
}

export type Part = Html | string | number | null | undefined | false | readonly Part[];

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? "");
}

/** Builds markup from a template. Attributes in these templates are always quoted, so one kind of escaping is enough. */
export function html(parts: TemplateStringsArray, ...values: Part[]): Html {
  return new Html(
    parts.reduce((sum, part, i) => sum + part + (i < values.length ? flat(values[i]) : ""), ""),
  );
}

function flat(part: Part): string {
  if (part === null || part === undefined || part === false) return "";
  if (part instanceof Html) return part.toString();
  if (typeof part === "object") return part.map(flat).join("");
  return escapeHtml(String(part));
}

/** Returns ` name="value"`, or null if there is no value. `true` gives the bare attribute. */
export function attr(name: string, value: string | number | boolean | null | undefined): Html | null {
  if (value === null || value === undefined || value === false) return null;
  return new Html(value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`);
}

/** How many characters of a long text are shown. The rest can be opened. */
const CHARACTERS = 280;

export function long(text: string): Part {
  const points = Array.from(text);
  if (points.length <= CHARACTERS) return text;
  return html`${points.slice(0, CHARACTERS).join("")}…
    <details>
      <summary>All ${points.length} characters</summary>
      <pre tabindex="0">${text}</pre>
    </details>`;
}

// Buttons and forms of the panels. Each names one act of the control API, which the browser posts to /control/do.

export type Act = {
  readonly act: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly words: string;
  /** The name for screen readers. Default: `words`. */
  readonly label?: string;
  readonly look?: "plain" | "primary" | "danger";
  /** Two buttons that replace each other share one id, so that the focus stays on them. */
  readonly id?: string;
  readonly off?: boolean;
  /** For one of several buttons, of which one is chosen: whether it is this one. */
  readonly chosen?: boolean;
};

export function controlButton(button: Act): Html {
  const { act, args = {}, words, label, look = "plain", id, off = false, chosen } = button;
  return html`<button
    type="button"
    ${attr("id", id)}
    data-look="${look}"
    data-control="${act}"
    data-args="${JSON.stringify(args)}"
    ${attr("aria-label", label)}${attr("disabled", off)}${attr("aria-pressed", chosen?.toString())}
  >
    ${words}
  </button>`;
}
