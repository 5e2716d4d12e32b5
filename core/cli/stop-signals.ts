// What signals do to a host, even before its program is loaded. No signal that can be handled ends the host without a
// stop, because its services would go on without supervision.
import type { StackwardenHost } from '../host/host-options.ts';
import { exitProcess } from '../kit/exit-process.ts';
import { keepListener } from '../kit/kept-listener.ts';

/**
 * The signals of a terminal, of a service manager, and, with SIGPWR, of a runtime that treats containers as machines.
 */
const STOPS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGPWR'] as const;
const NOTHING = 'nothing: SIGHUP reads the configuration again and rotates the logs, SIGTERM stops';
/**
 * The other signals that end Node by default, or, as SIGUSR1, open its debugger on a port. Signals for faults of the
 * program are left out, and so is SIGPROF, because a handler would take it from the profiler.
 */
const CHANGE_NOTHING = {
  SIGUSR1: NOTHING,
  SIGUSR2: NOTHING,
  SIGALRM: NOTHING,
  SIGVTALRM: NOTHING,
  SIGIO: NOTHING,
  SIGSTKFLT: NOTHING,
  SIGXCPU:
    'nothing yet: the soft limit of processor time is reached, and at the hard one the kernel kills Stackwarden; raise it (ulimit -t)',
} as const;
/** A terminal and a package runner may both deliver one key press; only a later signal counts as a second one. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

/**
 * Handles all these signals. One that comes before the host exists stops it when the returned function gets the host.
 */
export function stopOnSignals(): (host: StackwardenHost) => void {
  let host: StackwardenHost | undefined;
  let firstMs: number | undefined;
  let isForced = false;
  const onSignal = (): void => {
    firstMs ??= performance.now();
    if (host === undefined || isForced) return;
    isForced = performance.now() - firstMs > SECOND_SIGNAL_AFTER_MS;
    if (isForced) void host.force().finally(() => exitProcess(1));
    else void host.stop();
  };
  for (const signal of STOPS) keepListener(signal, onSignal);
  // A host that does not exist yet will read the configuration anyway.
  keepListener('SIGHUP', () => void host?.reload());
  changeNothing((signal, effect) => host?.log?.warn(`${signal} changes ${effect}`));
  return created => {
    host = created;
    if (firstMs !== undefined) void created.stop();
  };
}

/** Logs each of these signals once, because the kernel repeats SIGXCPU every second. */
function changeNothing(tell: (signal: string, effect: string) => void): void {
  const told = new Set<string>();
  for (const [signal, effect] of Object.entries(CHANGE_NOTHING)) {
    keepListener(signal, () => {
      if (!told.has(signal)) tell(signal, effect);
      told.add(signal);
    });
  }
}
