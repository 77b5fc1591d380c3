import { expect, test, vi } from "vitest";
import { createSandboxClock } from "#sandbox/base/sandbox-clock.ts";

/** A machine whose time the test controls. */
function aMachine() {
  const machine = { now: 1_000_000 };
  return { machine, clock: createSandboxClock(() => machine.now) };
}

test("it follows the machine's clock, plus the time that was added", () => {
  const { machine, clock } = aMachine();
  clock.advance(500);
  machine.now += 20;
  expect(clock.now()).toBe(1_000_520);
  expect(clock.aheadMs()).toBe(500);
});

test("alarms that become due during an advance fire in order, each at its own time", () => {
  const { clock } = aMachine();
  const rung: [string, number][] = [];
  const ring = (name: string) => () => void rung.push([name, clock.now() - 1_000_000]);
  clock.after(300, ring("late"));
  clock.after(100, () => {
    ring("early")();
    clock.after(50, ring("set by early"));
    clock.after(5_000, ring("too far"));
  });
  clock.after(200, ring("dropped"))();
  clock.advance(1_000);
  expect(rung).toEqual([
    ["early", 100],
    ["set by early", 150],
    ["late", 300],
  ]);
  expect(clock.now()).toBe(1_001_000);
});

test("after an advance, the machine's clock runs for the rest of an alarm's time", () => {
  vi.useFakeTimers();
  try {
    const clock = createSandboxClock(() => Date.now());
    const rung: number[] = [];
    clock.after(10_000, () => rung.push(clock.now()));
    clock.advance(9_000);
    vi.advanceTimersByTime(999);
    expect(rung).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(rung).toHaveLength(1);
    clock.advance(60_000);
    expect(rung).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

test("an alarm beyond the longest possible timer does not fire at once", () => {
  vi.useFakeTimers();
  try {
    const clock = createSandboxClock(() => Date.now());
    const rung: number[] = [];
    const days = 24 * 3_600_000;
    clock.after(40 * days, () => rung.push(clock.now()));
    vi.advanceTimersByTime(39 * days);
    expect(rung).toEqual([]);
    vi.advanceTimersByTime(days);
    expect(rung).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

test("a listener is notified of each advance until it is removed", () => {
  const { clock } = aMachine();
  let calls = 0;
  const leave = clock.onChange(() => (calls += 1));
  clock.advance(1);
  leave();
  clock.advance(1);
  expect(calls).toBe(1);
});
