// Two people in one window. Each half is the page as one of them sees it.
import { exists, shell } from "./document.ts";
import { html } from "./base/html.ts";
import type { Html } from "./base/html.ts";
import { hrefOf } from "./base/place.ts";
import type { Place, SideBySide } from "./base/place.ts";
import type { PageParts } from "./base/parts.ts";

/** Whether the page can show both people in this place. */
export function canShowSideBySide(parts: PageParts, side: SideBySide): boolean {
  return placesOf(side).every((place) => exists(parts, place));
}

function placesOf({ people, where }: SideBySide): Place[] {
  return people.map((person) => ({ person, where, thread: null, panel: null }));
}

export function drawSideBySide(parts: PageParts, side: SideBySide): Html {
  const places = placesOf(side);
  const names = places.map(({ person }) => parts.workspace.people.get(person)?.name ?? person);
  const [left] = places;
  return shell(
    `${names.join(" and ")} · side by side`,
    html`<body data-side-by-side>
      <header data-bar>
        <h1>${names.join(" and ")}, side by side</h1>
        <span data-note>each sees what the other does</span>
        ${left === undefined ? null : html`<a href="${hrefOf(left)}" data-close>Back to one view</a>`}
      </header>
      <main>
        ${places.map(
          (place, i) =>
            html`<iframe
              src="${hrefOf(place)}"
              title="As ${names[i]} (${i === 0 ? "left" : "right"})"
            ></iframe>`,
        )}
      </main>
    </body>`,
    { script: false },
  );
}
