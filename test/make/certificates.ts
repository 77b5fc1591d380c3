// Authorities and server certificates for tests of TLS, made with openssl.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const EC_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"] as const;

const openssl = (folder: string, ...args: readonly string[]): unknown =>
  execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });

/** Writes `<name>.key` and `<name>.crt` into the folder. */
export function makeAuthority(folder: string, name: string): void {
  const files = ["-keyout", `${name}.key`, "-out", `${name}.crt`] as const;
  openssl(folder, "req", "-x509", ...EC_KEY, "-days", "2", "-subj", `/CN=${name}`, ...files);
}

/** Writes the same files for a server, signed by the authority `by`. `names` is a `subjectAltName`, for example "DNS:localhost". */
export function makeCertificate(folder: string, name: string, by: string, names: string): void {
  const asked = `${name}.csr`;
  openssl(folder, "req", ...EC_KEY, "-keyout", `${name}.key`, "-out", asked, "-subj", "/CN=server");
  writeFileSync(join(folder, "names"), `subjectAltName=${names}\n`);
  const signer = ["-CA", `${by}.crt`, "-CAkey", `${by}.key`, "-CAcreateserial"] as const;
  const made = ["-days", "2", "-extfile", "names", "-out", `${name}.crt`] as const;
  openssl(folder, "x509", "-req", "-in", asked, ...signer, ...made);
}

/** Why a client refuses the certificate. `early`: it is not valid yet. */
export type RefusedCertificate = "self-signed" | "expired" | "early";

const AUTHORITY = `[ca]
default_ca = only
[only]
database = issued
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
`;
const HOUR_MS = 3_600_000;

/** Makes a key, and a certificate of 127.0.0.1 that it signs itself. */
export function makeRefused(
  folder: string,
  why: RefusedCertificate,
): { readonly key: Buffer; readonly cert: Buffer } {
  const hours = { "self-signed": [-1, 1], expired: [-2, -1], early: [1, 2] }[why];
  const [from = "", until = ""] = hours.map((each) =>
    new Date(Date.now() + each * HOUR_MS).toISOString().replaceAll(/[-:T]|\.\d+/g, ""),
  );
  for (const [name, content] of [
    ["authority", AUTHORITY],
    ["issued", ""],
    ["names", "subjectAltName=IP:127.0.0.1\n"],
  ] as const)
    writeFileSync(join(folder, name), content);
  openssl(folder, "req", ...EC_KEY, "-keyout", "tls.key", "-out", "tls.csr", "-subj", "/CN=127.0.0.1");
  const signer = ["-batch", "-notext", "-config", "authority", "-selfsign", "-keyfile", "tls.key"] as const;
  const asked = ["-in", "tls.csr", "-extfile", "names", "-startdate", from, "-enddate", until] as const;
  openssl(folder, "ca", ...signer, ...asked, "-out", "tls.crt");
  return { key: readFileSync(join(folder, "tls.key")), cert: readFileSync(join(folder, "tls.crt")) };
}
