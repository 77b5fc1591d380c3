import { expect, test } from "vitest";
import { readConfig, secretsOf } from "#src/config.ts";
import { config, SOCKET } from "../make/config.ts";

test("takes the proxies in lower case too, which goes first", () => {
  const env = { ...SOCKET, https_proxy: "http://a:1", HTTPS_PROXY: "http://b:2", no_proxy: "c" };
  expect(config(env).proxies).toEqual({ https: "http://a:1/", http: null, except: "c" });
  expect(config({ ...SOCKET, NO_PROXY: "c" }).proxies).toBeNull();
});

test("keeps the passwords of proxies secret", () => {
  const env = { ...SOCKET, HTTPS_PROXY: "http://bot:pa%24s@proxy:1", HTTP_PROXY: "bot:canary@proxy:2" };
  expect(secretsOf(config(env))).toEqual(expect.arrayContaining(["pa%24s", "pa$s", "canary"]));
  expect(JSON.stringify(config(env).recorded)).not.toMatch(/canary|pa%24s/);
});

test.each(["socks5://proxy:1080", "http://proxy:3128/path", "proxy:port", "http://"])(
  "refuses %s as a proxy, and repeats no password of it",
  (HTTPS_PROXY) => {
    const read = readConfig({ ...SOCKET, HTTPS_PROXY });
    expect(read.ok ? [] : read.error.map(({ variable, wrong }) => `${variable} ${wrong}`)).toEqual([
      "HTTPS_PROXY is not the address of a proxy, which is http:// or https://, a host and a port",
    ]);
  },
);
