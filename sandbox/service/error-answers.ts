// The errors of the service: the status and the code for each bad request, and a message that helps to fix it.

import type { Answer } from "./exchange.ts";
import type { BodyFault } from "./request-json.ts";
import type { Profile } from "./profile.ts";

type Kind = "invalid" | "not_found" | "unauthorized" | "method_not_allowed" | "conflict";
export type Refusal = {
  readonly kind: Kind;
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The only code that the document names. It shows this code for the three errors of the approval endpoint. */
const documentedCode = "invalid_request";
const codes: Readonly<Record<Kind, string>> = {
  invalid: documentedCode,
  not_found: "not_found",
  unauthorized: "unauthorized",
  method_not_allowed: "method_not_allowed",
  conflict: documentedCode,
};

export const invalid = ({ invalidStatus }: Profile, message: string): Refusal => ({
  kind: "invalid",
  status: invalidStatus,
  message,
});
/** The refusal of a bad body. A body that cannot be read keeps its status (413 or 415). */
export const badBody = (profile: Profile, { status, message }: BodyFault): Refusal =>
  status === 400 ? invalid(profile, message) : { kind: "invalid", status, message };

export const unknown = ({ unknownStatus }: Profile, message: string): Refusal => ({
  kind: "not_found",
  status: unknownStatus,
  message,
});

export const tooLate = ({ resolvedStatus }: Profile, message: string): Refusal => ({
  kind: "conflict",
  status: resolvedStatus,
  message,
});

export function noSuchEndpoint(allow: readonly string[]): Refusal {
  if (allow.length === 0) return { kind: "not_found", status: 404, message: "There is no such endpoint." };
  const message = `This endpoint accepts only ${allow.join(" or ")}.`;
  return { kind: "method_not_allowed", status: 405, message, headers: { allow: allow.join(", ") } };
}

export function unauthorized({ unauthorizedStatus }: Profile, key: "wrong" | "none"): Refusal {
  const message =
    key === "none"
      ? "An API key is required: Authorization: Bearer <API_KEY>."
      : "The API key is not valid. Send it in the header Authorization: Bearer <API_KEY>.";
  const headers: Record<string, string> = unauthorizedStatus === 401 ? { "www-authenticate": "Bearer" } : {};
  return { kind: "unauthorized", status: unauthorizedStatus, message, headers };
}

export function refusalAnswer(profile: Profile, refusal: Refusal, endpoint: string | null): Answer {
  const { kind, status, message, headers = {} } = refusal;
  const asDocumented = endpoint === "decide" && kind !== "unauthorized";
  const code = asDocumented || profile.errorCodes === "invalid_request" ? documentedCode : codes[kind];
  switch (profile.errorBody) {
    case "record":
      return { status, headers, body: JSON.stringify({ error: { code, message } }) };
    case "other json":
      return { status, headers, body: JSON.stringify({ detail: message }) };
    case "text":
      return {
        status,
        headers: { ...headers, "content-type": "text/plain; charset=utf-8" },
        body: `${message}\n`,
      };
    case "empty":
      return { status, headers, body: null };
  }
}
