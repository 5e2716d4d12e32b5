// What signals do to a host, from before its program is read on. None that a handler can take ends it without a stop,
// after which its services would go on alone.
import type { StackwardenHost } from '../host/host-options.ts';
import { exitProcess } from '../kit/exit-process.ts';
import { keepListener } from '../kit/kept-listener.ts';

/** Of a terminal, a service manager, and, with SIGPWR, of what runs a container as a machine. */
const STOPS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGPWR'] as const;
const NOTHING = 'nothing: SIGHUP reads the configuration again and rotates the logs, SIGTERM stops';
/**
 * The rest that ends Node by default, or opens its debugger on a port, as SIGUSR1. Faults of the program end it, and a
 * handler of SIGPROF would take that from the profiler.
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

/** A signal that comes before the host exists stops it as soon as it does. */
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

/** Each is told once, as the kernel repeats SIGXCPU every second. */
function changeNothing(tell: (signal: string, effect: string) => void): void {
  const told = new Set<string>();
  for (const [signal, effect] of Object.entries(CHANGE_NOTHING)) {
    keepListener(signal, () => {
      if (!told.has(signal)) tell(signal, effect);
      told.add(signal);
    });
  }
}
