// DATABASE_URL for PostgreSQL.

import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { connectionOf } from "#src/adapters/store/postgres.ts";
import { readConfig, secretsOf } from "#src/config.ts";
import { config, SOCKET } from "../make/config.ts";

const SEED = Buffer.alloc(32, 7).toString("base64");

function faults(env: Record<string, string | undefined>): string[] {
  const read = readConfig(env);
  return read.ok ? [] : read.error.map(({ variable, wrong }) => `${variable} ${wrong}`);
}

describe("a PostgreSQL database", () => {
  const url = "postgres://ann:p%40ss%2Fword@db.example.com:5433/bot?sslmode=verify-full&sslrootcert=/ca.pem";

  test("is named by its URL, and needs the audit's key", () => {
    expect(config({ ...SOCKET, AUDIT_KEY: SEED, DATABASE_URL: url }).database).toEqual({
      engine: "postgres",
      url,
    });
    expect(faults({ ...SOCKET, DATABASE_URL: url })).toEqual([
      expect.stringMatching(/^AUDIT_KEY is not set, and PostgreSQL needs it/),
    ]);
  });

  test.each([
    "postgresql://localhost/bot",
    "postgres://ann@127.0.0.1/bot",
    "postgres://ann@[::1]:5432/bot",
    "postgres://ann@localhost/bot?host=/run/postgresql",
    "postgres://ann@db.example.com/bot?host=/run/postgresql",
    "postgres://ann@%2Frun%2Fpostgresql/bot",
    "postgres://ann@/bot?host=/run/postgresql",
    "postgres:///bot?host=localhost",
    "postgres://ann@db.example.com/bot?host=::1",
    "postgres://ann@localhost/bot?host=db.example.com&sslmode=verify-full",
    "postgres://ann@10.0.0.7/bot?sslmode=disable",
  ])("may be on this machine, or be declared to be on a trusted network: %s", (address) => {
    const { database } = config({ ...SOCKET, AUDIT_KEY: SEED, DATABASE_URL: address });
    expect(database).toMatchObject({ engine: "postgres" });
  });

  test.each([
    ["postgres://ann@localhost/bot?host=db.example.com", "db.example.com"],
    ["postgres://ann@localhost/bot?host=%31%30.0.0.7", "10.0.0.7"],
    ["postgres://ann@db.example.com/bot?host=/run/postgresql", "/run/postgresql"],
    ["postgres://ann@%2Frun%2Fpostgresql/bot", "/run/postgresql"],
    ["postgres://ann@/bot?host=/run/postgresql", "/run/postgresql"],
    ["postgres://ann:p@ss@/bot?options=-c%20a=b&host=/run/postgresql", "/run/postgresql"],
    ["postgres://ann@/bot?host=db.example.com", "db.example.com"],
    ["postgres://ann@[::1]/bot", "::1"],
    ["postgres:///bot?host=localhost", "localhost"],
  ])("is judged by the host to which the driver connects: %s", (address, host) => {
    const env = { ...SOCKET, AUDIT_KEY: SEED, DATABASE_URL: address };
    expect(faults(env).map((each) => each.split(":")[0])).toEqual(
      /example|10\.0/.test(host) ? ["DATABASE_URL does not say how the connection is protected"] : [],
    );
    const declared = `${address}${address.includes("?") ? "&" : "?"}sslmode=disable`;
    const { database } = config({ ...env, DATABASE_URL: declared });
    const url = database.engine === "postgres" ? database.url : "";
    expect(new Client(connectionOf(url)).host).toBe(host);
  });

  test.each(["postgres://ann@/bot", "postgres:///bot", "postgres://ann@/bot?host="])(
    "needs a host: %s",
    (address) => {
      const env = { ...SOCKET, AUDIT_KEY: SEED, DATABASE_URL: address };
      expect(faults(env)).toEqual([expect.stringMatching(/^DATABASE_URL names no host/)]);
    },
  );

  test.each(["p@/ss@localhost", "p/ss@", "p#ss@", "p?ss@"])(
    "has no unescaped / ? or # in its password: %s",
    (rest) => {
      const env = {
        ...SOCKET,
        AUDIT_KEY: SEED,
        DATABASE_URL: `postgres://ann:${rest}/bot?host=/run/postgresql`,
      };
      expect(faults(env)).toEqual([
        expect.stringMatching(/^DATABASE_URL is not an address: write the special/),
      ]);
    },
  );

  test.each(["pa\tss", "pa\nss", "pa\r\ns@s"])("is refused with the password %j", (password) => {
    const env = { ...SOCKET, AUDIT_KEY: SEED, DATABASE_URL: `postgres://ann:${password}@localhost/bot` };
    expect(faults(env)).toEqual([
      expect.stringMatching(/^DATABASE_URL is not an address: write the special/),
    ]);
  });

  test.each(["p%40ss%2Fword", "p@ssword", "p%40ss:wo@rd", "pa ss", "pa\u00a0s@s"])(
    "has a password, %j, which is recorded nowhere and masked everywhere",
    (password) => {
      const env = { ...SOCKET, AUDIT_KEY: SEED, DATABASE_URL: `postgres://ann:${password}@localhost/bot` };
      const read = config(env);
      expect(read.recorded["DATABASE_URL"]).toBe("postgres://(hidden)@localhost/bot");
      expect(secretsOf(read)).toContain(decodeURIComponent(password));
    },
  );
});
