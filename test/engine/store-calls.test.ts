// How often a run is loaded and saved for a card and for a decision, and that what is not loaded is still checked.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RunKey } from "#src/domain/ids.ts";
import type { RunStore } from "#src/ports/store.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { APPROVER, aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER };

/** A bench that records every load and save of a run: "load", "save", or "lost" for a save that was refused. */
async function createCounted(): Promise<{ bench: Bench; calls: string[] }> {
  const bench = await createBench({ minMs: 2_000, maxMs: 2_000 });
  const calls: string[] = [];
  const { store } = bench;
  const counted: Pick<RunStore, "load" | "save"> = {
    load: (key) => {
      calls.push("load");
      return store.load(key);
    },
    save: async (stored, next, { onSaved, ...sideWrites } = {}) => {
      const saved = await store.save(stored, next, {
        ...sideWrites,
        onSaved: (written) => {
          calls.push("save");
          onSaved?.(written);
        },
      });
      if (saved === "lost") calls.push("lost");
      return saved;
    },
  };
  bench.store = { ...store, ...counted };
  await bench.restart();
  return { bench, calls };
}

const count = (calls: readonly string[]) => ({
  loads: calls.filter((each) => each === "load").length,
  saves: calls.filter((each) => each === "save").length,
});

async function adopted(bench: Bench) {
  const id = aRunId();
  bench.agents.pending.set(id, []);
  await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
  await bench.clock.pass(5_000);
  return id;
}

describe("a run is loaded", () => {
  // The saves: observed; earlier decisions looked up; the card and the new status of the opening message marked and
  // settled; the approvers counted.
  test("at most twice, and saved at most seven times, from the approval to its card", async () => {
    const { bench, calls } = await createCounted();
    const id = await adopted(bench);
    calls.length = 0;
    bench.agents.pending.set(id, ["apr_1"]);
    for (let left = 60; left > 0 && !bench.chat.posts.some(({ slot }) => slot.startsWith("card")); left -= 1)
      await bench.clock.pass(50);
    expect(bench.chat.posts.some(({ slot }) => slot.startsWith("card"))).toBe(true);
    const { loads, saves } = count(calls);
    expect(loads).toBeLessThanOrEqual(2);
    expect(saves).toBeLessThanOrEqual(7);
  });

  // The saves: decided; checked before it is sent; marked, and settled; the card and the opening message marked and
  // settled.
  test("at most three times, and saved at most seven times, from a submit to the answer of the service", async () => {
    const { bench, calls } = await createCounted();
    const { id, click } = await bench.withCard();
    await bench.clock.pass(5_000);
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    calls.length = 0;
    expect((await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go")).ok).toBe(true);
    await bench.clock.pass(1);
    const { loads, saves } = count(calls);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "confirmed" } });
    expect(loads).toBeLessThanOrEqual(3);
    expect(saves).toBeLessThanOrEqual(7);
  });
});

describe("a run that is saved without being loaded again", () => {
  /** Compares what the store would read with what `save` says that it wrote. */
  async function compared(bench: Bench, checked: RunKey[]): Promise<void> {
    const { store } = bench;
    bench.store = {
      ...store,
      save: (stored, next, sideWrites = {}) => {
        const seen: { written: Parameters<NonNullable<typeof sideWrites.onSaved>>[0] | null } = {
          written: null,
        };
        const onSaved = (written: NonNullable<typeof seen.written>): void => {
          seen.written = written;
          sideWrites.onSaved?.(written);
        };
        return store.save(stored, next, { ...sideWrites, onSaved }).then(async (saved) => {
          const { written } = seen;
          if (written === null) return saved;
          const read = await store.load(written.run.key);
          if (read?.revision !== written.revision) return saved;
          expect(written.run).toStrictEqual(read.run);
          checked.push(written.run.key);
          return saved;
        });
      },
    };
    await bench.restart();
  }

  test("equals what the store would have read", async () => {
    const bench = await createBench();
    const checked: RunKey[] = [];
    await compared(bench, checked);
    const { click } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "deny");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "no");
    await bench.clock.pass(10_000);
    expect(checked.length).toBeGreaterThan(5);
    expect(bench.errors).toEqual([]);
  });

  test("is marked as tampered with if someone changes it while its card is being posted", async () => {
    const folder = mkdtempSync(join(tmpdir(), "calls-"));
    const file = join(folder, "bot.db");
    const bench = await createBench({}, 0.5, file);
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const id = await adopted(bench);
    const post = bench.chat.post.bind(bench.chat);
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    bench.chat.post = async (run, slot) => {
      const ts = await post(run, slot);
      if (slot.startsWith("card")) await answered;
      return ts;
    };
    bench.agents.pending.set(id, ["apr_1"]);
    await bench.clock.pass(10_000);
    const raw = new DatabaseSync(file);
    raw.exec("update runs set doc = replace(doc, '\"pending\"', '\"decided\"')");
    raw.close();
    answer();
    await bench.clock.pass(10);
    expect((await bench.run(id)).watch.type).toBe("tampered");
    expect(bench.errors.some((each) => each.includes("TAMPERED"))).toBe(true);
  });
});
