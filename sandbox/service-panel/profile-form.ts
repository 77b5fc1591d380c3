// The form for the service's behavior that the interface document leaves open, or that breaks it on purpose. Only changed fields are sent.
import { attr, controlButton, html, type Html } from "../page/base/html.ts";
import { type ProfileSwitch, profileTable, switchFault } from "../service/profile-table.ts";
import type { Profile } from "../service/profile.ts";

export function choices(profile: Readonly<Profile>): Html {
  const unusual = profileTable.filter(({ name, usual }) => profile[name] !== usual);
  const changed = unusual.length;
  return html`<details data-profile>
    <summary>
      Service profile
      <span data-note>${changed === 0 ? "all defaults" : `${changed} changed`}</span>
    </summary>
    <p data-note>
      Behavior that the interface document leaves open. Choices marked "breaks the document" contradict it on
      purpose.
    </p>
    <form data-control="service.profile" data-args="{}" data-only-changes>
      <div data-fields>${profileTable.map((one) => field(one, profile[one.name]))}</div>
      <p data-buttons>
        <button type="submit" data-look="primary">Apply</button>
        ${controlButton({
          act: "service.profile",
          args: Object.fromEntries(unusual.map(({ name, usual }) => [name, usual])),
          words: "Reset to defaults",
          off: changed === 0,
        })}
      </p>
    </form>
  </details>`;
}

type Value = Profile[keyof Profile];

function field(one: ProfileSwitch, value: Value): Html {
  const { name, what, usual } = one;
  const id = `choice-${name}`;
  return html`<div data-field ${attr("data-unusual", value !== usual)}>
    <label for="${id}"><code>${name}</code> ${what}</label>
    ${one.choices === null ? typed(one, value) : chosen(one, value)}
    ${value === usual ? null : html`<small id="${id}-usual" data-note>default: ${said(usual)}</small>`}
  </div>`;
}

function chosen({ name, choices: all, breaks }: ProfileSwitch, value: Value): Html {
  return html`<select
    id="choice-${name}"
    name="${name}"
    data-takes="json"
    data-was="${JSON.stringify(value)}"
  >
    ${(all ?? []).map(
      (one) =>
        html`<option value="${JSON.stringify(one)}" ${attr("selected", one === value)}>
          ${said(one)}${breaks.includes(one) ? " (breaks the document)" : null}
        </option>`,
    )}
  </select>`;
}

function typed({ name, allowed }: ProfileSwitch, value: Value): Html {
  const number = typeof value === "number";
  const takes = number ? "number" : switchFault(name, null) === null ? "text or null" : "text";
  return html`<input
    type="${number ? "number" : "text"}"
    id="choice-${name}"
    name="${name}"
    value="${value === null ? "" : String(value)}"
    placeholder="${takes === "text or null" ? "none" : ""}"
    title="${allowed}"
    data-takes="${takes}"
    data-was="${JSON.stringify(value)}"
  />`;
}

function said(value: Value): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null ? "none" : String(value);
}
