// @ts-check
// The Traffic panel: filters, pauses, clears and copies its lines.
import { hold, waiting } from "./live.js";

/** @typedef {{ words: string, side: string, refused: boolean, clearedN: number, clearedAt: number }} Wanted */

const KEPT = "traffic filter";
/** @type {Wanted} */
const EVERYTHING = { words: "", side: "", refused: false, clearedN: 0, clearedAt: 0 };

/** @type {Wanted} */
let wanted = EVERYTHING;

/** @param {() => void} resume  Applies the lines that waited during a pause. */
export function startTraffic(resume) {
  const form = document.querySelector("form[data-filter]");
  if (!(form instanceof HTMLFormElement)) return;
  const { words, side, refused } = fieldsOf(form);
  wanted = { ...EVERYTHING, .../** @type {object} */ (JSON.parse(sessionStorage.getItem(KEPT) ?? "{}")) };
  words.value = wanted.words;
  side.value = wanted.side;
  refused.checked = wanted.refused;
  form.addEventListener("input", () =>
    want({ words: words.value, side: side.value, refused: refused.checked }),
  );
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button?.hasAttribute("data-pause")) pause(button, resume);
    if (button?.hasAttribute("data-clear")) clear();
    if (button?.hasAttribute("data-unclear")) want({ clearedN: 0, clearedAt: 0 });
    if (button?.hasAttribute("data-copy-all")) void copy(button, shown());
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-copy]") : null;
    const line = button?.closest("[data-line]");
    if (button && line) void copy(button, [line]);
  });
  filterTraffic();
}

/** @param {HTMLFormElement} form */
function fieldsOf(form) {
  return {
    words: /** @type {HTMLInputElement} */ (form.querySelector('input[type="search"]')),
    side: /** @type {HTMLSelectElement} */ (form.querySelector("select")),
    refused: /** @type {HTMLInputElement} */ (form.querySelector('input[type="checkbox"]')),
  };
}

/** @param {Partial<Wanted>} change */
function want(change) {
  wanted = { ...wanted, ...change };
  sessionStorage.setItem(KEPT, JSON.stringify(wanted));
  filterTraffic();
}

/** @returns {Element[]} */
const lines = () => [...document.querySelectorAll('[data-list="traffic"] [data-line]')];
const shown = () => lines().filter((line) => line.closest("li[hidden]") === null);

function clear() {
  const all = lines();
  const numbers = all.map((line) => Number(line.getAttribute("data-line")));
  const times = all.map((line) => Number(line.getAttribute("data-at")));
  want({ clearedN: Math.max(0, ...numbers), clearedAt: Math.max(0, ...times) });
}

/** The text of each line, read once because lines do not change. @type {WeakMap<Element, string>} */
const texts = new WeakMap();

/** @param {Element} line */
function textOf(line) {
  const text = texts.get(line) ?? (line.textContent ?? "").toLowerCase();
  texts.set(line, text);
  return text;
}

/** Checks number and time, because a restart resets the numbers but not the time. @param {Element} line */
function isCleared(line) {
  const { clearedN, clearedAt } = wanted;
  return (
    Number(line.getAttribute("data-line")) <= clearedN && Number(line.getAttribute("data-at")) <= clearedAt
  );
}

/** Applies the filter. Called after every change, because new lines may arrive at any time. */
export function filterTraffic() {
  const list = document.querySelector('[data-list="traffic"]');
  if (list === null) return;
  const words = wanted.words.toLowerCase().split(/\s+/);
  const fits = (/** @type {Element} */ line) =>
    (wanted.side === "" || (line.getAttribute("data-sides") ?? "").split(" ").includes(wanted.side)) &&
    (!wanted.refused || line.hasAttribute("data-refused")) &&
    words.every((word) => textOf(line).includes(word));
  let cleared = 0;
  for (const line of lines()) {
    const gone = isCleared(line);
    cleared += Number(gone);
    line.closest("li")?.toggleAttribute("hidden", gone || !fits(line));
  }
  for (const group of list.querySelectorAll(":scope > li:has([data-quiet])")) {
    group.toggleAttribute("hidden", group.querySelector("ol > li:not([hidden])") === null);
  }
  count(cleared);
}

/** @param {number} cleared */
function count(cleared) {
  const output = document.querySelector("[data-filter] output");
  if (output === null) return;
  const all = lines().length;
  const late = waiting("traffic");
  const parts = [
    `${shown().length} of ${all} lines`,
    ...(cleared > 0 ? [`${cleared} cleared`] : []),
    ...(late > 0 ? [`${late} waiting`] : []),
  ];
  const text = parts.join(" · ");
  if (output.textContent !== text) output.textContent = text;
  document.querySelector("[data-unclear]")?.toggleAttribute("hidden", cleared === 0);
}

/**
 * @param {Element} button
 * @param {() => void} resume
 */
function pause(button, resume) {
  const paused = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(paused));
  button.textContent = paused ? "Resume" : "Pause";
  if (paused) hold("traffic");
  else resume();
  filterTraffic();
}

/** How long a button shows its result (ms). */
const RESULT_MS = 1500;

/**
 * Copies the lines in full, as JSON lines. The page itself shows only the beginning of a long line.
 * @param {Element} button
 * @param {Element[]} lines
 */
async function copy(button, lines) {
  const words = button.textContent;
  const wanted = new Set(lines.map((line) => Number(line.getAttribute("data-line"))));
  button.textContent = await take(wanted).then(
    (copied) => (copied === wanted.size ? "Copied" : `Copied ${copied}; the other lines are no longer kept`),
    () => "Could not copy",
  );
  setTimeout(() => (button.textContent = words), RESULT_MS);
}

/** @param {Set<number>} wanted */
async function take(wanted) {
  const kept = await (await fetch("/page/traffic.jsonl")).text();
  const taken = kept.split("\n").filter((line) => {
    if (line === "") return false;
    return wanted.has(/** @type {{ number: number }} */ (JSON.parse(line)).number);
  });
  await navigator.clipboard.writeText(taken.join("\n"));
  return taken.length;
}
