// The server's certificate must prove that it is the server in the URL. Otherwise nothing is sent to it.

import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { reasonOf } from "#src/adapters/store/faults.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { makeAuthority, makeCertificate } from "../../make/certificates.ts";
import { type PostgresServer, SERVER_USER, startPostgres } from "../../make/postgres.ts";
import { anAuditEntry, aRun } from "../../make/run.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");

let folder = "";
let server: PostgresServer;

/** Starts a server that shows this certificate. */
const startWith = (certificate: string): Promise<PostgresServer> =>
  startPostgres({
    tcp: true,
    prepare: (data) => {
      const [key, cert] = [join(data, "server.key"), join(data, "server.crt")];
      execFileSync("cp", [join(folder, "server.key"), key]);
      execFileSync("cp", [join(folder, certificate), cert]);
      chmodSync(key, 0o600);
      const { uid, gid } = SERVER_USER;
      if (uid !== undefined && gid !== undefined) for (const each of [key, cert]) chownSync(each, uid, gid);
      // No connection over the network without TLS.
      writeFileSync(join(data, "pg_hba.conf"), "local all all trust\nhostssl all all 127.0.0.1/32 trust\n");
    },
    settings: ["ssl=on"],
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tls-"));
  makeAuthority(folder, "ours");
  makeAuthority(folder, "other");
  makeCertificate(folder, "server", "ours", "DNS:localhost");
  server = await startWith("server.crt");
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function urlOf(host: string, ca: string, of = server): Promise<string> {
  const name = new URL(await of.database()).pathname;
  const file = encodeURIComponent(join(folder, `${ca}.crt`));
  return `postgres://postgres@${host}:${of.port}${name}?sslmode=verify-full&sslrootcert=${file}`;
}

const opening = (url: string) => openStore({ url, owner: "test", auditKey: AUDIT_KEY });

test("a certificate for this host from this authority is accepted, and the connection is encrypted", async () => {
  const url = await urlOf("localhost", "ours");
  const store = await opening(url);
  await store.audit([anAuditEntry(aRun())]);
  const local = `postgres://postgres@localhost:${server.port}${new URL(url).pathname}?host=${server.folder}`;
  const encrypted =
    "select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'countersign'";
  expect(await server.run(local, encrypted)).toEqual([{ ssl: true }]);
  await store.close();
});

const UNTRUSTED = "certificate is not for this host, or not from the authority in sslrootcert";

test("a certificate for another name is refused, also if the URL has an address", async () => {
  await expect(opening(await urlOf("127.0.0.1", "ours"))).rejects.toThrow(UNTRUSTED);
});

test("a certificate from another or an unknown authority is refused", async () => {
  await expect(opening(await urlOf("localhost", "other"))).rejects.toThrow(UNTRUSTED);
  const [unknown = ""] = (await urlOf("localhost", "ours")).split("&sslrootcert");
  await expect(opening(unknown)).rejects.toThrow(UNTRUSTED);
});

test("a certificate that has expired is called that, with the clock as the other cause", async () => {
  const signer = ["-CA", "ours.crt", "-CAkey", "ours.key", "-CAcreateserial", "-extfile", "names"];
  const made = ["x509", "-req", "-in", "server.csr", ...signer, "-days", "-1", "-out", "expired.crt"];
  execFileSync("openssl", made, { cwd: folder, stdio: "ignore" });
  const expired = await startWith("expired.crt");
  await expect(opening(await urlOf("localhost", "ours", expired))).rejects.toThrow(
    "certificate, or its authority's, has expired (or this machine's clock is wrong)",
  );
  await expired.stop();
});

test("a certificate that is not valid yet is called that, with the clock as the other cause", () => {
  const early = Object.assign(new Error("certificate is not yet valid"), { code: "CERT_NOT_YET_VALID" });
  expect(reasonOf(early)).toMatch(/is not valid yet \(or this machine's clock is wrong\)$/);
});

test("a missing file of certificates is named with its parameter", async () => {
  await expect(opening(await urlOf("localhost", "none"))).rejects.toThrow(
    "the file of sslrootcert in its URL cannot be read",
  );
});

test("a server without TLS is refused", async () => {
  const plain = await startPostgres({ tcp: true });
  const url = `postgres://postgres@localhost:${plain.port}/postgres?sslmode=verify-full`;
  await expect(opening(url)).rejects.toThrow("the server offers no TLS");
  await plain.stop();
});
