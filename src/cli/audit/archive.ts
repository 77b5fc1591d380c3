// `npm run audit -- archive`, and reading an audit together with its archive files.

import { type ArchiveFile, archiveSignedText, openArchive } from "../../adapters/store/archive-file.ts";
import type { ArchiveOptions } from "../../adapters/store/archive-bounds.ts";
import { openForArchive } from "../../adapters/store/archive-audit.ts";
import type { AuditFile } from "../../adapters/store/audit-file.ts";
import { auditSignatures } from "../../adapters/store/audit-key.ts";
import { BEGINNING, parsedEntry } from "../../domain/audit/verify-chain.ts";
import { isRecord } from "../../domain/json.ts";
import { auditVerdict, neededKey, verdictWords } from "./inspect.ts";

type Where = { readonly database: string; readonly key: string | null };
type Done = { readonly tampered: boolean; readonly words: string };

/** Moves the entries before `before` (ms) into a file. Rejects with one line for the operator, which says so if nothing was removed. */
export async function archiveOldest(
  where: Where,
  { before, withoutSink, file }: ArchiveOptions & { readonly file: string },
): Promise<Done> {
  const { database } = where;
  const key = neededKey(where, "key to sign with");
  const audit = await openForArchive(database, key);
  try {
    const verdict = await auditVerdict(audit, [key.publicKey], []);
    if (!verdict.ok) return { tampered: true, words: `${verdictWords(verdict, 0)}\nNothing was archived.` };
    const { lastArchivable, because, base } = await audit.limit({ before, withoutSink });
    const stays = because === null ? "" : ` Entry ${lastArchivable + 1} must stay: ${because}.`;
    if (lastArchivable <= base.seq) return { tampered: false, words: `There is nothing to archive.${stays}` };
    const { from, to, entry, digest, unshrunk } = await audit.archive(lastArchivable, file, Date.now());
    const words = [
      `Archived: entries ${from} to ${to} are now in ${file}, and no longer in the database. Entry ${entry} records this.${stays}`,
      `SHA-256 of all lines of the file except the last: ${digest}`,
      `Keep the file: verify --archive ${file} needs it to check the chain from its start.`,
      ...(unshrunk === null ? [] : [unshrunkWords(unshrunk)]),
    ];
    return { tampered: false, words: words.join("\n") };
  } finally {
    await audit.close();
  }
}

const unshrunkWords = (why: string): string =>
  `The database file could not be shrunk (${why}). Nothing is lost, and new entries fill its free space. Once its disk and the temporary folder have room for a copy of it, the next archive shrinks it.`;

/**
 * Returns the audit with the entries and texts of these files in front of its own. Rejects with one line for the operator if the files
 * do not fit. The caller must verify the added entries like the others.
 */
export async function withArchives(
  audit: AuditFile,
  files: readonly string[],
  publicKeys: readonly string[],
): Promise<AuditFile> {
  if (files.length === 0) return audit;
  const opened: ArchiveFile[] = [];
  const close = async (): Promise<void> => {
    for (const archive of opened) archive.close();
    await audit.close();
  };
  try {
    for (const file of files) opened.push(await openArchive(file));
    const archives = opened.toSorted((a, b) => a.after.seq - b.after.seq);
    await refuseMisfits(audit, archives, publicKeys);
    return joined(audit, archives, close);
  } catch (error) {
    for (const archive of opened) archive.close();
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
      archives.map((archive) => archive.textOf(digest)).find((text) => text !== null) ??
      null,
    async *rows() {
      for (const archive of archives) yield* archive.rows();
      yield* audit.rows();
    },
  };
}

async function refuseMisfits(
  audit: AuditFile,
  archives: readonly ArchiveFile[],
  publicKeys: readonly string[],
): Promise<void> {
  const announced = archives.flatMap(({ announcedKeys }) => announcedKeys);
  const signature = auditSignatures([...publicKeys, ...announced, ...(await audit.announcedKeys())]);
  // An entry that cannot be read names no file here. The verdict on the audit names it.
  const recordedDigests = new Map(
    (await audit.archivings()).flatMap((text) => {
      const { archive = null } = parsedEntry(text) ?? {};
      return isRecord(archive) ? [[archive["seq"], archive["file"]]] : [];
    }),
  );
  const ends = [...archives.slice(1).map(({ after }) => after), await audit.base()];
  for (const [at, { path, head, digest, signature: own }] of archives.entries()) {
    const next = ends[at];
    if (next === undefined || next.seq !== head.seq || next.link !== head.link)
      throw new Error(
        `${path} ends with entry ${head.seq}, but the next part begins after entry ${next?.seq ?? 0}. An archive file is missing, or this one belongs to another audit.`,
      );
    if (signature(own.key, archiveSignedText(digest), own.signature) !== "good")
      throw new Error(`${path} is not signed with a key of this audit, so it was not read.`);
    const recorded = recordedDigests.get(head.seq);
    if (recorded !== undefined && recorded !== digest)
      throw new Error(
        `${path} is not the file that the audit recorded for entry ${head.seq}. Find the original file.`,
      );
  }
}
