// What to do when a certificate is not trusted.

/** Node's codes of TLS for a certificate whose authority it does not know. */
const UNTRUSTED =
  /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT/;

export const isUntrusted = (words: string): boolean => UNTRUSTED.test(words);

export const AUTHORITY =
  "If a private authority signs its certificate, set NODE_EXTRA_CA_CERTS to the PEM file of that authority, for npm start too.";
