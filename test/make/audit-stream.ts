import { createAuditStream } from "#src/notifications/audit-stream.ts";
import type { AuditSink } from "#src/ports.ts";
import type { Finding } from "#src/ports/audit-store.ts";
import type { Store } from "#src/ports/store.ts";
import { createHandClock } from "./clock.ts";

/** Streams to this sink until the test stops it. */
export function streamTo(auditSink: AuditSink, from: Store, isShardHolder: () => boolean = () => true) {
  const clock = createHandClock();
  const findings: Finding[] = [];
  const seen = { failures: 0, lag: -1, errors: 0, findings };
  const metrics = {
    auditSinkFailed: () => void (seen.failures += 1),
    auditSinkLag: (entries: number) => void (seen.lag = entries),
  };
  const nothing = (): void => undefined;
  const log = { debug: nothing, info: nothing, warn: nothing, error: () => void (seen.errors += 1) };
  const stream = createAuditStream({
    store: from,
    auditSink,
    engine: { holdsShard: isShardHolder },
    integrity: { found: (finding) => void findings.push(finding) },
    metrics,
    clock,
    log,
  });
  stream.start();
  const stop = async (): Promise<void> => {
    await stream.stop(1_000);
    await auditSink.close();
  };
  return { clock, seen, stop, pass: () => clock.pass(1_000) };
}
