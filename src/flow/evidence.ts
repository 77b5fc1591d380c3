// A file that tells all that is known of one run: in words, and entry by entry with what proves it.

import { headWords, NO_LINK } from "../core/audit-chain.ts";
import type { RunId, UserId } from "../core/ids.ts";
import { plainJson } from "../core/json.ts";
import { oneLine } from "../core/excerpt.ts";
import type { KeptEntry } from "./audit-entry.ts";
import { AROUND_A_RUN, momentWords, runStory } from "./audit-story.ts";
import type { Store } from "./ports.ts";

export type Evidence = { readonly name: string; readonly text: string; readonly says: string };

const ID_CHARS = 512;
/** A policy is loaded at each start and each change, and a text is erased by hand: there are never so many. */
const MOST_AROUND = 1_000_000;

export async function evidenceOf(
  store: Store,
  entries: readonly KeptEntry[],
  { id, user, at }: { readonly id: RunId; readonly user: UserId; readonly at: number },
): Promise<Evidence> {
  const shown = oneLine(id, ID_CHARS);
  const last = entries.at(-1);
  const around = await store.auditAfter(0, AROUND_A_RUN, MOST_AROUND);
  const story = await runStory(entries, (digest) => store.auditText(digest), around);
  const proofs = await Promise.all(entries.map((each) => proofLine(store, each)));
  const head = last === undefined ? "(none)" : headWords(last);
  const text = [
    `Evidence of run ${shown}`,
    `Written ${momentWords(at)} for ${user} · ${entries.length} entries · head when it was written: ${head}`,
    "",
    "1. What happened, in words",
    story,
    "",
    "2. The entries as they stand in the audit, a JSON record on each line",
    `Signed with Ed25519; the newest public key is ${store.auditPublicKey()} (base64, raw). docs/audit.md says how to check them.`,
    "That no entry of the run is missing is proven by the whole audit alone:",
    `  npm run audit -- verify --head "${head}"`,
    ...proofs,
    "",
  ].join("\n");
  const says = `Evidence of run ${shown}: ${entries.length} entries, up to ${head}.`;
  return { name: `evidence-${id.replace(/[^A-Za-z0-9_-]/g, "").slice(0, 40)}.txt`, text, says };
}

async function proofLine(store: Store, { seq, link }: KeptEntry): Promise<string> {
  const previous = seq === 1 ? NO_LINK : ((await store.auditEntry(seq - 1))?.link ?? null);
  return plainJson({ seq, previous, link, ...(await store.auditProof(seq)) });
}
