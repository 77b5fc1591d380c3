import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { watchSocketCount } from "#src/adapters/slack/socket-connection.ts";

function counting(alone: boolean) {
  const client = new EventEmitter();
  const warned: object[] = [];
  const nothing = (): void => undefined;
  const log = {
    debug: nothing,
    info: nothing,
    warn: (fields: object) => void warned.push(fields),
    error: nothing,
  };
  watchSocketCount(client as unknown as Parameters<typeof watchSocketCount>[0], { alone, log });
  const greeted = (by: unknown): void =>
    void client.emit(
      "ws_message",
      typeof by === "number" ? JSON.stringify({ type: "hello", num_connections: by }) : by,
    );
  return { greeted, warned };
}

test("a first greeting that counts two sockets is reported at once", () => {
  const { greeted, warned } = counting(true);
  greeted(2);
  expect(warned).toEqual([{ sockets: 2 }]);
});

test("at a reconnection, the socket that has just ended may be counted once", () => {
  const { greeted, warned } = counting(true);
  for (const said of [1, 2, 1, 2]) greeted(said);
  expect(warned).toEqual([]);
  greeted(2);
  expect(warned).toEqual([{ sockets: 2 }]);
});

test("several processes of one installation do not count as another program", () => {
  const { greeted, warned } = counting(false);
  greeted(3);
  expect(warned).toEqual([]);
});

test("only greetings are counted", () => {
  const { greeted, warned } = counting(true);
  const forged = JSON.stringify({
    type: "events_api",
    payload: { text: '{"type":"hello","num_connections":9}' },
  });
  for (const frame of [
    "hello",
    '"hello"',
    '{"type":"hello"}',
    '{"type":"hello","num_connections":"9"}',
    forged,
    Buffer.from("x"),
  ])
    greeted(frame);
  greeted(JSON.stringify({ type: "hello", num_connections: 9, more: "x".repeat(3_000) }));
  expect(warned).toEqual([]);
});
