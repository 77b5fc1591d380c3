import { expect, test } from "vitest";
import { isInRange, readConfig, secretsOf } from "#src/config.ts";
import { config, SOCKET } from "../make/config.ts";

test("proxies may be set in lower case too, which takes precedence", () => {
  const env = { ...SOCKET, https_proxy: "http://a:1", HTTPS_PROXY: "http://b:2", no_proxy: "c" };
  expect(config(env).proxies).toEqual({ https: "http://a:1/", http: null, except: "c" });
  expect(config({ ...SOCKET, NO_PROXY: "c" }).proxies).toBeNull();
});

const RANGES = "localhost,10.0.0.0/8";
const faultsOf = (env: Record<string, string>) => {
  const read = readConfig({ ...SOCKET, ...env });
  return read.ok ? [] : read.error.map(({ variable, wrong }) => `${variable} ${wrong}`);
};

test("a fault names the variable that was read, as it is written in the environment", () => {
  const bad = "socks5://proxy:1080";
  const wrong = "is not the address of a proxy, which is http:// or https://, a host and a port";
  expect(faultsOf({ https_proxy: bad, HTTPS_PROXY: "http://b:2" })).toEqual([`https_proxy ${wrong}`]);
  expect(faultsOf({ https_proxy: " ", HTTPS_PROXY: bad })).toEqual([`HTTPS_PROXY ${wrong}`]);
  expect(faultsOf({ http_proxy: '"http://a:1"' })).toEqual([
    expect.stringMatching(/^http_proxy begins with a quotation mark/),
  ]);
  expect(faultsOf({ http_proxy: "http://a:1", HTTP_PROXY_FILE: "/run/proxy" })).toEqual([
    "HTTP_PROXY_FILE is set beside http_proxy: leave one of them out",
  ]);
});

test.each(["no_proxy", "NO_PROXY"])(
  "%s may hold anything as long as there is no proxy, and is not recorded then",
  (name) => {
    for (const value of [RANGES, "'localhost'", "é"]) {
      const read = config({ ...SOCKET, [name]: value });
      expect([read.proxies, read.recorded["NO_PROXY"]]).toEqual([null, null]);
    }
  },
);

test("a range of addresses is accepted beside a proxy", () => {
  const env = { ...SOCKET, HTTPS_PROXY: "http://a:1", NO_PROXY: `${RANGES} fd00::/8,.svc` };
  expect(config(env).proxies).toMatchObject({ except: env.NO_PROXY });
});

test.each([
  "10.0.0.0/33",
  "10.0.0/8",
  "10.0.0.0/",
  "10.0.0.0/8:80",
  "fd00::/129",
  "agents.internal/8",
  "http://a",
])("%s is refused beside a proxy as no range of addresses", (range) =>
  expect(faultsOf({ http_proxy: "http://a:1", no_proxy: `localhost,${range}` })).toEqual([
    "no_proxy has a / that is not part of a range of addresses: write a range as 10.0.0.0/8 or fd00::/8",
  ]),
);

test.each([
  ["10.1.2.3", true],
  ["11.1.2.3", false],
  ["[fd12::1]", true],
  ["[fe80::1]", false],
  ["[::ffff:10.1.2.3]", true],
  ["agents.internal", false],
  ["10.example.com", false],
])("the host %s is in one of the ranges: %s", (host, isIn) => {
  expect(isInRange(new URL(`http://${host}/`).hostname, `${RANGES}, fd00::/8`)).toBe(isIn);
  expect(isInRange(host, "localhost")).toBe(false);
});

test("a text beside a proxy that is no list of hosts is refused", () => {
  expect(faultsOf({ HTTPS_PROXY: "http://a:1", NO_PROXY: "é" })).toEqual([
    "NO_PROXY is not a list of hosts separated by commas",
  ]);
});

test("passwords of proxies are kept secret", () => {
  const env = { ...SOCKET, HTTPS_PROXY: "http://bot:pa%24s@proxy:1", HTTP_PROXY: "bot:canary@proxy:2" };
  expect(secretsOf(config(env))).toEqual(expect.arrayContaining(["pa%24s", "pa$s", "canary"]));
  expect(JSON.stringify(config(env).recorded)).not.toMatch(/canary|pa%24s/);
});

test.each(["http://bot:pa ss@proxy:1", "bot:pa s@s@proxy:1"])(
  "a password with a space is not recorded: %s",
  (HTTPS_PROXY) => {
    const { recorded } = config({ ...SOCKET, HTTPS_PROXY });
    expect(recorded["HTTPS_PROXY"]).toMatch(/^(http:\/\/)?\(hidden\)@proxy:1$/);
  },
);

const UNDECODABLE = [
  "http://bot:100%@proxy:1",
  "http://100%:x@proxy:1",
  "bot:%ff@proxy:1",
  "bot:a%2@proxy:1",
  "http://bot%c3:%a9@proxy:1", // together they would be an é
];
test.each(UNDECODABLE)(
  "a user or password that cannot be decoded is refused, with an example: %s",
  (address) => {
    for (const env of [{ HTTPS_PROXY: address }, { http_proxy: address }]) {
      const read = readConfig({ ...SOCKET, ...env });
      expect(read.ok ? [] : read.error).toEqual([
        {
          variable: Object.keys(env)[0],
          wrong: "has a % in its user or password that begins no encoded character: write it as %25",
          example: "http://proxy.example.com:3128",
        },
      ]);
    }
  },
);

test.each([
  "socks5://proxy:1080",
  "http://proxy:3128/path",
  "http://proxy#path",
  "proxy:port",
  "http://",
  "http://bot:pa\nss@proxy:1",
  "bot:pa\tss@proxy:1",
])("%j is refused as a proxy, and its password is not repeated", (HTTPS_PROXY) => {
  const read = readConfig({ ...SOCKET, HTTPS_PROXY });
  expect(read.ok ? [] : read.error.map(({ variable, wrong }) => `${variable} ${wrong}`)).toEqual([
    "HTTPS_PROXY is not the address of a proxy, which is http:// or https://, a host and a port",
  ]);
});
