// `npm run audit -- archive`, and reading an audit together with the files of its archive.

import { type ArchiveFile, archiveSignedText, openArchive } from "../../adapters/store/archive-file.ts";
import type { ArchiveWish } from "../../adapters/store/archive-bounds.ts";
import { openForArchive } from "../../adapters/store/archive-audit.ts";
import type { AuditFile } from "../../adapters/store/audit-file.ts";
import { auditSignatures } from "../../adapters/store/audit-key.ts";
import { BEGINNING } from "../../domain/audit/verify-chain.ts";
import { auditVerdict, howToGiveKey, ownKey, verdictWords } from "./inspect.ts";

type Where = { readonly database: string; readonly key: string | null };
type Done = { readonly tampered: boolean; readonly words: string };

/** Moves the entries before this moment (ms) into a file. Rejects with one line for people; then nothing is removed. */
export async function archiveOldest(
  { database, key: given }: Where,
  { before, withoutSink, file }: ArchiveWish & { readonly file: string },
): Promise<Done> {
  const key = ownKey({ database, key: given });
  if (key === null) throw new Error(`There is no key to sign with: ${howToGiveKey(database)}.`);
  const audit = await openForArchive(database, key);
  try {
    const verdict = await auditVerdict(audit, [key.publicKey], []);
    if (!verdict.ok) return { tampered: true, words: `${verdictWords(verdict, 0)}\nNothing was archived.` };
    const { seq, because, base } = await audit.limit({ before, withoutSink });
    const stays = because === null ? "" : ` Entry ${seq + 1} must stay: ${because}.`;
    if (seq <= base.seq) return { tampered: false, words: `There is nothing to archive.${stays}` };
    const { from, to, entry, digest } = await audit.archive(seq, file, Date.now());
    const words = [
      `Archived: entries ${from} to ${to} are in ${file}, and no longer in the database. Entry ${entry} says so.${stays}`,
      `SHA-256 of its lines without the last: ${digest}`,
      `Keep the file: verify --archive ${file} follows the chain through it.`,
    ];
    return { tampered: false, words: words.join("\n") };
  } finally {
    await audit.close();
  }
}

/**
 * The audit with the entries and texts of these files before its own. Rejects with one line for people if the files do not fit. Its
 * entries are to be verified like the others.
 */
export async function withArchives(
  audit: AuditFile,
  files: readonly string[],
  publicKeys: readonly string[],
): Promise<AuditFile> {
  if (files.length === 0) return audit;
  const opened: ArchiveFile[] = [];
  const close = async (): Promise<void> => {
    for (const each of opened) each.close();
    await audit.close();
  };
  try {
    for (const file of files) opened.push(await openArchive(file));
    const archives = opened.toSorted((a, b) => a.after.seq - b.after.seq);
    await refuseMisfits(audit, archives, publicKeys);
    return joined(audit, archives, close);
  } catch (error) {
    for (const each of opened) each.close();
    throw error;
  }
}

function joined(audit: AuditFile, archives: readonly ArchiveFile[], close: () => Promise<void>): AuditFile {
  return {
    ...audit,
    close,
    base: () => Promise.resolve(archives[0]?.after ?? BEGINNING),
    announcedKeys: async () => [
      ...archives.flatMap(({ announcedKeys }) => announcedKeys),
      ...(await audit.announcedKeys()),
    ],
    textOf: async (digest) =>
      (await audit.textOf(digest)) ??
      archives.map((each) => each.textOf(digest)).find((text) => text !== null) ??
      null,
    async *rows() {
      for (const each of archives) yield* each.rows();
      yield* audit.rows();
    },
  };
}

async function refuseMisfits(
  audit: AuditFile,
  archives: readonly ArchiveFile[],
  publicKeys: readonly string[],
): Promise<void> {
  const announced = archives.flatMap((each) => each.announcedKeys);
  const signature = auditSignatures([...publicKeys, ...announced, ...(await audit.announcedKeys())]);
  const said = new Map(
    (await audit.archivings()).map(({ entry }) => [entry.archive?.seq, entry.archive?.file]),
  );
  const ends = [...archives.slice(1).map(({ after }) => after), await audit.base()];
  for (const [at, { path, head, digest, signature: own }] of archives.entries()) {
    const next = ends[at];
    if (next === undefined || next.seq !== head.seq || next.link !== head.link)
      throw new Error(
        `${path} ends with entry ${head.seq}, and what comes next begins after entry ${next?.seq ?? 0}: another file is missing, or it belongs to another audit.`,
      );
    if (signature(own.key, archiveSignedText(digest), own.signature) !== "good")
      throw new Error(`${path} is not signed with a key of this audit.`);
    const named = said.get(head.seq);
    if (named !== undefined && named !== digest)
      throw new Error(`${path} is not the file that the audit names for entry ${head.seq}.`);
  }
}
