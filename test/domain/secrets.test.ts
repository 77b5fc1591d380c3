import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { masked, maskedField } from "#src/domain/text/secrets.ts";
import { channelText } from "#src/domain/text/text.ts";
import { costOfFourfold, NEARLY_LINEAR } from "../make/cpu-cost.ts";
import { SECRETS } from "./secret-shapes.ts";

describe("masking hides", () => {
  test.each(SECRETS)("%s", (_what, text, secret) => {
    const { text: shown, secrets } = masked(`before ${text} after`);
    expect(shown).not.toContain(secret);
    expect(secrets.join("\n")).toContain(secret);
    expect(shown).toMatch(/^before .*⟨[\d,]+ characters masked⟩/s);
  });

  test.each(SECRETS)("%s, exactly once", (_what, text) => {
    const { text: shown } = masked(text);
    expect(masked(shown)).toEqual({ text: shown, secrets: [] });
  });

  test.each([
    "password",
    "DB_PASSWORD",
    "client_secret",
    "clientSecret",
    "api-key",
    "apiKey",
    "refresh_token",
    "credentials",
  ])("the whole value of a field named %s", (name) => {
    expect(maskedField(name, "hunter22")).toEqual({ text: "⟨8 characters masked⟩", secrets: ["hunter22"] });
  });
});

test("a secret that begins with a sign is masked, too", () => {
  expect(masked('password="&;)abcdef"').secrets).toEqual(["&;)abcdef"]);
  expect(masked('PASSWORD=" leading space"').secrets).toEqual([" leading space"]);
  expect(masked(String.raw`{"cmd": "password=\" hunter2 pass\""}`).secrets).toEqual([" hunter2 pass"]);
  expect(masked('"password="hunter2secret').secrets).toEqual(["hunter2secret"]);
});

test("a mask without an end covers one line", () => {
  expect(masked(`"token": 'abcdefgh\nkubectl delete namespace prod`).text).toContain("kubectl delete");
});

describe("masking does not hide", () => {
  test.each([
    "Rotate the token of the staging service",
    "token: see the vault",
    "max_tokens=4096",
    "sk-learn-contrib-dimension-reduction",
    "a basic responsibility-driven design",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "https://example.com/path?q=1",
    "git commit 39a8047bd1c9b7d2d9d3f9a5f6a1b2c3d4e5f607",
    "550e8400-e29b-41d4-a716-446655440000",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    `{"password": "", "note": "it's a long text"}`,
    'echo "password="\nread password\necho "thanks"',
    'grep -r "password=" /etc/app && rm -rf "/var/lib/postgres"',
    'cat log | grep "token="; kubectl delete namespace prod',
    `grep -r 'secret='/etc/app && rm -rf '/var/lib/postgres'`,
    'curl -d "token=" https://example.org/x -d @/etc/passwd',
    `{"token": 4096, "note": "it's a long text"}`,
  ])("%s", (text) => {
    expect(masked(text)).toEqual({ text, secrets: [] });
  });

  test.each([
    ["tokens", "12345678"],
    ["secretary", "Ana Ruiz"],
    ["password", "short"],
    ["token", "the one of staging"],
  ])("a field %s: %s", (name, text) => expect(maskedField(name, text).secrets).toEqual([]));
});

test("a text of six characters or more under the name password is masked whole, in any JSON and in JSON in a text", () => {
  const secret = fc
    .array(fc.oneof(fc.string({ unit: "binary", minLength: 1 }), fc.constantFrom('"', "'", "\\")), {
      minLength: 6,
    })
    .map((parts) => parts.join(""));
  const place = fc
    .integer({ min: 1, max: 4 })
    .map(
      (depth) => (value: unknown) =>
        Array.from({ length: depth }).reduce<unknown>((inner) => JSON.stringify(inner), value) as string,
    );
  fc.assert(
    fc.property(secret, place, (password, written) => {
      const [before = "", after = ""] = written({ user: "ana", password: "@", until: "it's noon" }).split(
        "@",
      );
      const { text } = masked(written({ user: "ana", password, until: "it's noon" }));
      expect(text.replace(/⟨[\d,]+ characters masked⟩/, "@")).toBe(`${before}@${after}`);
    }),
  );
});

test("masking loses nothing: with the secrets put back it is the original text", () => {
  const parts = fc.array(fc.oneof(fc.constantFrom(...SECRETS.map(([, text]) => text)), fc.string()), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(parts, (each) => {
      const text = each.join(" ");
      const { text: shown, secrets } = masked(text);
      const kept = shown.replace(/⟨[\d,]+ characters masked⟩/g, "").length;
      expect(kept + secrets.join("").length).toBe(text.length);
    }),
  );
});

test.for([
  "a",
  "-",
  "token=",
  "-----BEGIN PRIVATE KEY-----",
  "eyJa.",
  "sk-",
  "://",
  "x:y@",
  '"token":"',
  "password ",
  "password='",
  'password="\n',
  "password=\\",
  '"password":"\\',
  String.raw`\"password\":\"\\\\`,
])("the cost of a text grows with its length: %s", (part) => {
  expect(costOfFourfold(part, 50_000, channelText)).toBeLessThan(NEARLY_LINEAR);
});
