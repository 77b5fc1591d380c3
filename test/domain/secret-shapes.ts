// Fake secrets in the shapes that issuers give them. They are put together here, so that no scanner takes this file
// for a leak.

const of = (length: number, from = "Canary0Zq7Xw9"): string =>
  from.repeat(Math.ceil(length / from.length)).slice(0, length);
const hex = (length: number): string => of(length, "c0ffee0123456789");
const block = (kind: string, between = "\n"): string =>
  [`-----BEGIN ${kind}-----`, of(64), of(64), `-----END ${kind}-----`].join(between);

/** A description, a text that contains the secret, and the part of it that must not be seen. */
export const SECRETS: readonly (readonly [what: string, text: string, secret: string])[] = [
  ["an RSA private key", block("RSA PRIVATE KEY"), of(64)],
  ["a private key of OpenSSH", block("OPENSSH PRIVATE KEY"), of(64)],
  ["a private key in JSON", block("PRIVATE KEY", String.raw`\n`), of(64)],
  ["a private key of PGP", block("PGP PRIVATE KEY BLOCK"), of(64)],
  ["a private key without an end", `-----BEGIN EC PRIVATE KEY-----\n${of(90)}`, of(90)],
  ["an AWS key id", `AKIA${of(16, "QWERTY234567ZXCV")}`, of(16, "QWERTY234567ZXCV")],
  ["an AWS secret", `aws_secret_access_key = ${of(40)}`, of(40)],
  ["a token of GitHub", `ghp_${of(36)}`, of(36)],
  ["a fine-grained token of GitHub", `github_pat_${of(80)}`, of(80)],
  ["a token of GitLab", `glpat-${of(20)}`, of(20)],
  ["a bot token of Slack", `xoxb-1234567890-${of(24)}`, of(24)],
  ["an app token of Slack", `xapp-1-A0-${of(40)}`, of(40)],
  ["a webhook of Slack", `https://hooks.slack.com/services/T0/B0/${of(24)}`, of(24)],
  ["a key of Stripe", `sk_live_${of(24)}`, of(24)],
  ["a webhook secret of Stripe", `whsec_${of(32)}`, of(32)],
  ["a key of OpenAI", `sk-proj-${of(48)}`, of(48)],
  ["a key of Anthropic", `sk-ant-api03-${of(90)}`, of(90)],
  ["a key of Google", `AIza${of(35)}`, of(35)],
  ["an access token of Google", `ya29.${of(60)}`, of(60)],
  ["a token of npm", `npm_${of(36)}`, of(36)],
  ["a token of PyPI", `pypi-${of(80)}`, of(80)],
  ["a key of SendGrid", `SG.${of(22)}.${of(43)}`, of(43)],
  ["a key of Twilio", `SK${hex(32)}`, hex(32)],
  ["a token of DigitalOcean", `dop_v1_${hex(64)}`, hex(64)],
  ["a token of Vault", `hvs.${of(90)}`, of(90)],
  ["a token of Shopify", `shpat_${hex(32)}`, hex(32)],
  ["a token of Hugging Face", `hf_${of(34)}`, of(34)],
  ["a JSON web token", `eyJ${of(20)}.${of(60)}.${of(43)}`, of(43)],
  ["a storage key of Azure", `AccountKey=${of(86)}==`, of(86)],
  ["a bearer in a header", `Authorization: Bearer ${of(32)}`, of(32)],
  ["a user and password in a header", `Authorization: Basic ${of(24)}`, of(24)],
  ["a password in an address", `postgres://app:${of(12)}@db.example:5432/app`, of(12)],
  ["a password that is set", "PGPASSWORD=correct-horse psql", "correct-horse"],
  ["a password in quotes", `password = "correct-horse"`, "correct-horse"],
  ["a secret in JSON", `{"client_secret": "${of(20)}"}`, of(20)],
  ["a password with an apostrophe near its start", `{"password": "abc'defghijkl"}`, "abc'defghijkl"],
  ["a password with an apostrophe near its end", `{"password": "abcdefg'hijkl"}`, "abcdefg'hijkl"],
  ["a password with a quote", String.raw`{"password": "abc\"defghijkl"}`, String.raw`abc\"defghijkl`],
  ["a password with a backslash", String.raw`{"password": "abc\\defg\\"}`, String.raw`abc\\defg\\`],
  [
    "a password with a quote in a text in JSON",
    JSON.stringify(String.raw`{"password": "abc\"defghijkl\\"}`),
    String.raw`abc\\\"defghijkl\\\\`,
  ],
  ["a password in single quotes", `{'password': 'abc"defghijkl'}`, 'abc"defghijkl'],
  ["a token that is a number", `{"token": 123456789012}`, "123456789012"],
  ["a password of several words that is set", `password = "it's correct"`, "it's correct"],
  ["a password with an apostrophe that is set", `PASSWORD=abc'defghijkl psql`, "abc'defghijkl"],
  ["a token after a name and a closing quote", 'echo "token="\nTOKEN=hunter22\necho "thanks"', "hunter22"],
  [
    "a password with a backslash that is set",
    String.raw`PASSWORD=abc\defghijkl psql`,
    String.raw`abc\defghijkl`,
  ],
];
