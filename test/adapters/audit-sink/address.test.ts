// The address of AUDIT_SINK is called as it is given. A query may hold a secret, so it is shown and stored nowhere.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openSink, type SinkPlace } from "#src/adapters/audit-sink/open-sink.ts";
import { checkSink } from "#src/cli/doctor/check-sink.ts";
import type { Config } from "#src/config.ts";
import { config, SOCKET } from "../../make/config.ts";

/** A collector that insists on each character of its address. Resolves to its origin, and to the addresses that it was asked for. */
async function aCollector(accepted: string): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(request.url === accepted ? 200 : 404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const configured = (AUDIT_SINK: string): Config => config({ ...SOCKET, AUDIT_SINK });

function placeIn({ audit: { sink } }: Config): SinkPlace {
  if (sink === null) throw new Error("no sink is configured");
  return sink;
}

function opened(address: string) {
  const sink = openSink(placeIn(configured(address)));
  onTestFinished(() => sink.close());
  return sink;
}

test.each(["/ingest/", "/ingest", "/", "/ingest/?index=audit&token=canary", "/in?q=a/"])(
  "entries are sent to %s, and the doctor asks there",
  async (path) => {
    const { origin, asked } = await aCollector(path);
    await opened(origin + path).write(["{}\n"]);
    const [finding] = await checkSink(configured(origin + path));
    expect(asked).toEqual([`POST ${path}`, `HEAD ${path}`]);
    expect(JSON.stringify(finding)).toContain("HTTP 200");
  },
);

test("a query is not in the name of the sink, in the record of the configuration, in an error or in what the doctor says", async () => {
  const { origin } = await aCollector("/other");
  const address = `${origin}/in?token=canary`;
  const read = configured(address);
  expect(read.recorded["AUDIT_SINK"]).toBe(`${origin}/in?(hidden)`);
  expect(opened(address).name).not.toContain("canary");
  const refused = await opened(address).write(["{}\n"]).catch(String);
  expect(refused).toContain("it answered HTTP 404");
  const unreachable = "http://127.0.0.1:9/in?token=canary";
  const failed = await opened(unreachable).write(["{}\n"]).catch(String);
  expect(failed).toContain("ECONNREFUSED");
  const findings = [...(await checkSink(read)), ...(await checkSink(configured(unreachable)))];
  expect(refused + String(failed) + JSON.stringify(findings)).not.toContain("canary");
});

test("a slash at the end makes no new sink, because earlier versions dropped it; another query does", () => {
  const [bare, slash, one, other] = ["", "/", "?index=a", "?index=b"].map(
    (end) => opened(`https://siem.example.com/in${end}`).name,
  );
  expect([bare, slash]).toEqual(["https://siem.example.com/in", "https://siem.example.com/in"]);
  expect(one).toMatch(/^https:\/\/siem\.example\.com\/in\?\([0-9a-f]{12}\)$/);
  expect(new Set([bare, one, other]).size).toBe(3);
  expect(opened("https://siem.example.com").name).toBe("https://siem.example.com");
});
