// A stored form as a schema: who opened it, for which version of the card, and what it showed.

import { Nonce, RunKey, TeamId, UserId } from "../../domain/ids.ts";
import type { FormTicket } from "../../ports/store.ts";
import { approvalId, request, verdict } from "./approval-document.ts";
import { type Doc, id, number, orNull, record } from "./document-shape.ts";

export const formDocument: Doc<FormTicket> = record<FormTicket>({
  nonce: id(Nonce),
  team: id(TeamId),
  approval: approvalId,
  version: number,
  user: orNull(id(UserId)),
  run: id(RunKey),
  verdict,
  saw: request,
  at: number,
});
