// Authorities and server certificates for tests of TLS, made with openssl.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
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
