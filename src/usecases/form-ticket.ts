// Finds the form that a person has open.

import type { Refusal } from "../domain/authorization.ts";
import type { Nonce, PersonId } from "../domain/ids.ts";
import type { FormTicket } from "../ports/store.ts";
import type { DecideDeps } from "./refusals.ts";

export type NoForm = Extract<Refusal, { type: "unknown" | "form-changed" }>;

/**
 * Resolves to the form with this nonce if it belongs to this person and is of the wanted kind. Every other form is unknown. `nonce`: null
 * if the window carried no valid nonce.
 */
export async function ownForm(
  { store, time }: Pick<DecideDeps, "store" | "time">,
  by: PersonId,
  nonce: Nonce | null,
  isWanted: (ticket: FormTicket) => boolean,
): Promise<FormTicket | NoForm> {
  await time.makeUp();
  const ticket = nonce === null ? null : await store.form(nonce);
  if (ticket === "changed") return { type: "form-changed" };
  const isTheirs = ticket?.team === by.team && ticket.user === by.user;
  return isTheirs && isWanted(ticket) ? ticket : { type: "unknown" };
}

/**
 * Resolves to the form with this nonce if it belongs to this person and can decide. A window for reading and a form that asks for something
 * else are unknown. A request in a form with several requests is decided only in that form (`bundle`).
 */
export function formToDecide(
  deps: Pick<DecideDeps, "store" | "time">,
  by: PersonId,
  nonce: Nonce | null,
  bundle: Nonce | null,
): Promise<FormTicket | NoForm> {
  const decides = (ticket: FormTicket): boolean =>
    ticket.reading !== true && ticket.asks === undefined && (ticket.bundle ?? null) === bundle;
  return ownForm(deps, by, nonce, decides);
}
