// Two replicas that load a policy at the same time: the one that the audit names last is in force.

import { expect, onTestFinished, test } from "vitest";
import {
  createPolicyFollower,
  createPolicyHolder,
  digestOf,
} from "#src/adapters/policy-file/policy-holder.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { policyLoadedEntry } from "#src/audit/entry.ts";
import { createHandClock } from "../../make/clock.ts";
import { policyFile } from "../../make/policy.ts";
import { quietLog } from "../../make/quiet.ts";

const wanting = (quorum: number): string => `rules:\n  - { name: r, approvers: anyone, quorum: ${quorum} }`;
const STAMP = { now: 1, digest: digestOf };
const log = quietLog([], []);

async function createReplica() {
  const file = policyFile(wanting(1));
  const holder = await createPolicyHolder(file.path, log);
  const store = await openStore({ url: "sqlite::memory:", owner: "test" });
  onTestFinished(() => store.close());
  const loadElsewhere = async (quorum: number): Promise<void> => {
    const other = await createPolicyHolder(policyFile(wanting(quorum)).path, log);
    await store.audit([policyLoadedEntry(other.loaded(), STAMP)]);
  };
  return { file, holder, store, loadElsewhere, needs: () => holder.now().rules[0]?.needs };
}

test("a late answer about an earlier policy does not undo a later one", async () => {
  const { holder, store, loadElsewhere, needs } = await createReplica();
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let slow = true;
  const auditText: typeof store.auditText = async (digest) => {
    const text = await store.auditText(digest);
    asked.resolve();
    if (slow) await answered.promise;
    return text;
  };
  const follow = createPolicyFollower(holder, { ...store, auditText }, log);
  await loadElsewhere(2);
  const first = follow();
  await asked.promise;
  slow = false;
  await loadElsewhere(3);
  const second = follow();
  await createHandClock().rest();
  answered.resolve();
  await Promise.all([first, second]);
  expect(needs()).toBe(3);
});

test("a late answer to our own commit does not undo a later policy", async () => {
  const { file, holder, store, loadElsewhere, needs } = await createReplica();
  const follow = createPolicyFollower(holder, store, log);
  file.write(wanting(2));
  const changed = await holder.reload(async (loaded) => {
    await store.audit([policyLoadedEntry(loaded, STAMP)]);
    await loadElsewhere(3);
    await follow();
  });
  await follow();
  expect([changed, needs()]).toEqual([true, 3]);
});

test("a policy that is taken over right before our own commit gives way to it", async () => {
  const { file, holder, store, loadElsewhere, needs } = await createReplica();
  const follow = createPolicyFollower(holder, store, log);
  file.write(wanting(2));
  await holder.reload(async (loaded) => {
    await loadElsewhere(3);
    await follow();
    await store.audit([policyLoadedEntry(loaded, STAMP)]);
  });
  await follow();
  expect(needs()).toBe(2);
});

test("a replica that starts puts the newest policy into force, however many were loaded before it", async () => {
  const { holder, store, loadElsewhere, needs } = await createReplica();
  const old = await createPolicyHolder(policyFile(wanting(2)).path, log);
  const entry = policyLoadedEntry(old.loaded(), STAMP);
  await store.audit(Array.from({ length: 10_000 }, () => entry));
  await loadElsewhere(3);
  await createPolicyFollower(holder, store, log)();
  expect(needs()).toBe(3);
});
