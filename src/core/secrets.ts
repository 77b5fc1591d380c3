// Secrets of well-known shapes. In a channel they are masked: everybody there reads what an agent writes. Whoever decides sees them
// in the form. What is masked is never less than the secret, and of a shape that says itself what it is the beginning stays.

export type Masked = { readonly text: string; readonly secrets: readonly string[] };

/** Each with one group, the secret itself. Bounded, so that no text takes long. Sources: the issuers' documents, and gitleaks' rules. */
const SHAPES: readonly RegExp[] = [
  // PEM; what has no end is masked to the end of the text. In JSON its lines end in \n.
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----([^]+?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /\b(?:AKIA|ASIA|ABIA|ACCA)([A-Z2-7]{16})\b/g, // AWS
  /\bgh[pousr]_([A-Za-z0-9]{20,255})/g, // GitHub
  /\bgithub_pat_([A-Za-z0-9_]{20,255})/g,
  /\bgl(?:pat|dt|rt|ptt|ft|soat|cbt|imt|agent|oas)-([\w-]{20,255})/g, // GitLab
  /(?:xox[a-z]|xapp)-([A-Za-z0-9.-]{8,255})/g, // Slack
  /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/-]{10,255})/g,
  /\b(?:sk|rk|pk)_(?:live|test)_([A-Za-z0-9]{10,255})/g, // Stripe
  /\bwhsec_([A-Za-z0-9+/=]{16,255})/g,
  /\bsk-(?:ant-|proj-|svcacct-|admin-)?(?=[\w-]{0,255}\d)([\w-]{20,255})/g, // OpenAI, Anthropic
  /\bAIza([\w-]{35})/g, // Google
  /\bya29\.([\w-]{20,512})/g,
  /\bnpm_([A-Za-z0-9]{30,255})/g,
  /\bpypi-([\w-]{20,512})/g,
  /\bSG\.([\w-]{16,32}\.[\w-]{16,64})/g, // SendGrid
  /\bSK([0-9a-f]{32})\b/g, // Twilio
  /\bdop_v1_([0-9a-f]{64})/g, // DigitalOcean
  /\b(?:hvs|hvb|hvr)\.([\w-]{20,512})/g, // Vault
  /\bshp(?:at|ca|pa|ss)_([0-9a-fA-F]{32})/g, // Shopify
  /\bhf_([A-Za-z0-9]{20,255})/g, // Hugging Face
  /\bAGE-SECRET-KEY-1([0-9A-Z]{58})/g,
  /\beyJ([\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{8,2048})/g, // JSON web token
  /\bAccountKey=([A-Za-z0-9+/]{40,255}={0,2})/g, // Azure
  /\bBearer\s{1,4}([\w.~+/-]{16,4096}=*)/gi,
  /\bAuthorization["']?:\s{0,4}["']?Basic\s{1,4}([\w+/]{8,4096}=*)/gi,
  // In an address: user:password@host
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@?#<>|"'⟨⟩]{0,100}:([^\s:/@?#<>|"'⟨⟩]{3,200})@/gi,
  // A name that says so, and what is set to it; in a text inside JSON the quotes stand behind strokes.
  /\b[\w-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|auth[_-]?key)\\?["']?\s{0,4}=\s{0,4}\\?["']?(?![^\s"'&;,]{0,512}⟨)([^\s"'⟨⟩&;,\\]{6,512})/gi,
  /["'][\w-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)\\?["']\s{0,4}:\s{0,4}\\?["']([^"'⟨⟩\\]{6,512})\\?["']/gi,
];

/** A field of this name holds nothing else. */
const SECRET_NAME =
  /(?:^|[_-])(?:password|passwd|passphrase|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|signing[_-]?key|credentials?)$/i;
/** Shorter ones are words. */
const MIN_FIELD_CHARS = 6;

/** Most texts hold none of this, and need no look for each shape. */
const HINT =
  /PRIVATE KEY|A(?:KIA|SIA|BIA|CCA)|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|xox[a-z]-|xapp-|hooks\.slack|[srp]k_|whsec_|sk-|AIza|ya29\.|npm_|pypi-|SG\.|SK[0-9a-f]|dop_v1_|hv[sbr]\.|shp[a-z]{1,2}_|hf_|AGE-SECRET|eyJ|key|bearer|basic|:\/\/|pass|secret|token/i;

export function masked(text: string): Masked {
  if (!HINT.test(text)) return { text, secrets: [] };
  const secrets: string[] = [];
  let out = text;
  for (const shape of SHAPES)
    out = out.replace(shape, (whole: string, secret: string) => {
      if (secret.includes("⟨") && secret.includes("masked⟩")) return whole;
      secrets.push(secret);
      const at = whole.lastIndexOf(secret);
      return whole.slice(0, at) + mark(secret) + whole.slice(at + secret.length);
    });
  return { text: out, secrets };
}

/** As above; a field whose name says that it is a secret is masked whole. */
export function maskedField(name: string, text: string): Masked {
  const camel = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_");
  const named = SECRET_NAME.test(camel) && text.length >= MIN_FIELD_CHARS && !/\s/.test(text.trim());
  return named ? { text: mark(text), secrets: [text] } : masked(text);
}

function mark(secret: string): string {
  return `⟨${secret.length.toLocaleString("en-US")} characters masked⟩`;
}
