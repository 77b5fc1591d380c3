// Masking of secrets. Everyone in a channel reads what an agent writes, so secrets of well-known shapes are masked there. The person who
// decides sees them in the form. Countersign's own secrets are masked everywhere. A mask always covers the whole secret.

import { MIN_VALUE_CHARS, namedRanges } from "./named-secrets.ts";
import { OWN_MARK, ownRanges, type Range, unitedRanges } from "./own-secrets.ts";

export type Masked = { readonly text: string; readonly secrets: readonly string[] };

/** `open` for the person who decides; `masked` for a channel. */
export type Drawing = "open" | "masked";

/** A part of the text that must not be shown. `own`: it contains one of our own secrets, which are never shown or listed anywhere. */
export type Mask = { readonly range: Range; readonly own: boolean };

/** A field with a name like this contains nothing but a secret. */
const SECRET_NAME =
  /(?:^|[_-])(?:password|passwd|passphrase|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|signing[_-]?key|credentials?)$/i;
const MAX_NAME_CHARS = 200;

/** Returns the parts to mask, in order. None touches another. If one of our own secrets is within a longer secret, both become one part. */
export function masksIn(text: string, as: Drawing): Mask[] {
  const own = ownRanges(text);
  if (as === "open") return own.map((range) => ({ range, own: true }));
  const all = own.length === 0 ? secretRanges(text) : unitedRanges([...own, ...secretRanges(text)]);
  return all.map((range) => ({ range, own: own.some(([at]) => at >= range[0] && at < range[1]) }));
}

export function withMasks(text: string, masks: readonly Mask[]): string {
  if (masks.length === 0) return text;
  let out = "";
  let at = 0;
  for (const { range, own } of masks) {
    out += text.slice(at, range[0]) + (own ? OWN_MARK : mark(range[1] - range[0]));
    at = range[1];
  }
  return out + text.slice(at);
}

export function masked(text: string): Masked {
  const masks = masksIn(text, "masked");
  return { text: withMasks(text, masks), secrets: secretsUnder(text, masks) };
}

/** Like `masked`, for a field. If the name says that it is a secret, the whole text is masked. */
export function maskedField(name: string, text: string): Masked {
  const masks = fieldMasks(name, text);
  return { text: withMasks(text, masks), secrets: secretsUnder(text, masks) };
}

export function fieldMasks(name: string, text: string): Mask[] {
  return isSecretField(name, text)
    ? [{ range: [0, text.length], own: ownRanges(text).length > 0 }]
    : masksIn(text, "masked");
}

export function isSecretField(name: string, text: string): boolean {
  const camel = name.slice(-MAX_NAME_CHARS).replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_");
  return SECRET_NAME.test(camel) && text.length >= MIN_VALUE_CHARS && !/\s/.test(text.trim());
}

export function secretsUnder(text: string, masks: readonly Mask[]): string[] {
  return masks.flatMap(({ range, own }) => (own ? [] : [text.slice(...range)]));
}

function mark(chars: number): string {
  return `⟨${groupDigits(chars)} characters masked⟩`;
}

// Secrets of well-known shapes. Each pattern takes time proportional to the text, because it fails within a few characters of its start or
// matches everything that it has read. So the patterns need no upper bound on a length, which would leave a gap.
// Sources: the issuers' documentation, and the rules of gitleaks.

/** Each pattern has one group: the secret itself. */
const SHAPES: readonly RegExp[] = [
  // PEM. A key without an end is masked to the end of the text. In JSON, its lines end in \n.
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----([^]+?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /\b(?:AKIA|ASIA|ABIA|ACCA)([A-Z2-7]{16})\b/g, // AWS
  /\bgh[pousr]_([A-Za-z0-9]{20,})/g, // GitHub
  /\bgithub_pat_([A-Za-z0-9_]{20,})/g,
  /\bgl(?:pat|dt|rt|ptt|ft|soat|cbt|imt|agent|oas)-([\w-]{20,})/g, // GitLab
  /(?:xox[a-z]|xapp)-([A-Za-z0-9.-]{8,})/g, // Slack
  /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/-]{10,})/g,
  /\b(?:sk|rk|pk)_(?:live|test)_([A-Za-z0-9]{10,})/g, // Stripe
  /\bwhsec_([A-Za-z0-9+/=]{16,})/g,
  /\bAIza([\w-]{35})/g, // Google
  /\bya29\.([\w-]{20,})/g,
  /\bnpm_([A-Za-z0-9]{30,})/g,
  /\bpypi-([\w-]{20,})/g,
  /\bSG\.([\w-]{16,32}\.[\w-]{16,64})/g, // SendGrid
  /\bSK([0-9a-f]{32})\b/g, // Twilio
  /\bdop_v1_([0-9a-f]{64})/g, // DigitalOcean
  /\b(?:hvs|hvb|hvr)\.([\w-]{20,})/g, // Vault
  /\bshp(?:at|ca|pa|ss)_([0-9a-fA-F]{32})/g, // Shopify
  /\bhf_([A-Za-z0-9]{20,})/g, // Hugging Face
  /\bAGE-SECRET-KEY-1([0-9A-Z]{58})/g,
  /\bAccountKey=([A-Za-z0-9+/]{40,}={0,2})/g, // Azure
  /\bBearer\s{1,4}([\w.~+/-]{16,}=*)/gi,
  /\bAuthorization["']?:\s{0,4}["']?Basic\s{1,4}([\w+/]{8,}=*)/gi,
  // In a URL: user:password@host
  /(?<=[a-z0-9+.-]{2}):\/\/[^\s:/@?#<>|"'⟨⟩]{0,256}:([^\s:/@?#<>|"'⟨⟩]{3,512})@/gi,
];

/** OpenAI, Anthropic. Must contain a digit, because English words do not. */
const SK = /\bsk-(?:ant-|proj-|svcacct-|admin-)?([\w-]{20,})/g;
/** JSON web token, which has three parts. If the text ends in the middle of one, it counts too. */
const JWT = /\beyJ([\w.-]{26,})/g;

/** A text that is already masked. */
const MASK = /^⟨[\d,]{1,15} characters masked⟩$/;

/** A fast path: most texts contain none of this, so the search for each shape is skipped. */
const HINT =
  /PRIVATE KEY|A(?:KIA|SIA|BIA|CCA)|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|xox[a-z]-|xapp-|hooks\.slack|[srp]k_|whsec_|sk-|AIza|ya29\.|npm_|pypi-|SG\.|SK[0-9a-f]|dop_v1_|hv[sbr]\.|shp[a-z]{1,2}_|hf_|AGE-SECRET|eyJ|key|bearer|basic|:\/\/|pass|secret|token/i;

/** Returns the secrets in order. None touches another. */
function secretRanges(text: string): Range[] {
  if (!HINT.test(text)) return [];
  const found = SHAPES.flatMap((shape) => rangesOf(shape, text, () => true));
  found.push(...rangesOf(SK, text, (secret) => /\d/.test(secret)));
  found.push(...namedRanges(text).filter((range) => !MASK.test(text.slice(...range))));
  found.push(...rangesOf(JWT, text, (secret, end) => end === text.length || hasThreeParts(secret)));
  return unitedRanges(found);
}

function rangesOf(shape: RegExp, text: string, holds: (secret: string, end: number) => boolean): Range[] {
  const out: Range[] = [];
  for (const { 0: whole, 1: secret = "", index } of text.matchAll(shape)) {
    const start = index + whole.lastIndexOf(secret);
    const end = start + secret.length;
    if (!MASK.test(secret) && holds(secret, end)) out.push([start, end]);
  }
  return out;
}

function hasThreeParts(secret: string): boolean {
  const parts = secret.split(".").map((part) => part.length >= 8);
  return parts.some((long, at) => long && parts[at + 1] === true && parts[at + 2] === true);
}

/** Writes 1,234,567. `toLocaleString` takes a thousand times as long. */
export function groupDigits(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
