// Auto-escaping templates: whatever is put into `html` is text, unless it came out of `html` itself.

/** A class, so that no object that arrived as JSON can pass for markup. */
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

/** Attributes in these templates are always quoted; that is what makes one kind of escaping enough. */
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

/** ` name="value"`, or nothing at all for a value that is absent; `true` gives the bare attribute. */
export function attr(name: string, value: string | number | boolean | null | undefined): Html | null {
  if (value === null || value === undefined || value === false) return null;
  return new Html(value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`);
}

/** How much of a long text is shown; the rest can be opened. */
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

// Buttons and forms of the panels. Each names one act on the sandbox's world; the browser posts it to /control/do.

export type Act = {
  readonly act: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly words: string;
  /** The name for screen readers. Default: `words`. */
  readonly label?: string;
  readonly look?: "plain" | "primary" | "danger";
  /** Two buttons that replace each other share one id, so that the focus stays. */
  readonly id?: string;
  readonly off?: boolean;
};

export function controlButton({ act, args = {}, words, label, look = "plain", id, off = false }: Act): Html {
  return html`<button
    type="button"
    ${attr("id", id)}
    data-look="${look}"
    data-control="${act}"
    data-args="${JSON.stringify(args)}"
    ${attr("aria-label", label)}${attr("disabled", off)}
  >
    ${words}
  </button>`;
}
