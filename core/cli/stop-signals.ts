// What SIGTERM, SIGINT and SIGHUP do to a host, from before its program is read on.
import type { StackwardenHost } from '../host/host-options.ts';

/** A terminal and a package runner may both deliver one key press; only a later signal counts as a second one. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

/** A signal that comes before the host exists stops it as soon as it does. */
export function stopOnSignals(): (host: StackwardenHost) => void {
  let host: StackwardenHost | undefined;
  let firstMs: number | undefined;
  const onSignal = (): void => {
    firstMs ??= performance.now();
    if (host === undefined) return;
    if (performance.now() - firstMs > SECOND_SIGNAL_AFTER_MS) void host.force().finally(() => process.exit(1));
    else void host.stop();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  // A host that does not exist yet will read the configuration anyway.
  process.on('SIGHUP', () => void host?.reload());
  return created => {
    host = created;
    if (firstMs !== undefined) void created.stop();
  };
}
