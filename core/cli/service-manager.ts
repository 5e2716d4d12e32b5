// Reports to systemd, over the socket in NOTIFY_SOCKET, that the host is ready, reloads or stops, and, as long as its
// event loop runs, that it is alive. Node cannot open such a socket, so systemd-notify sends each message.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { HostPhase, StackwardenHost } from '../host/host-options.ts';
import { urlHost } from '../kit/client-host.ts';
import { publicEnvironment } from '../kit/public-environment.ts';

const run = promisify(execFile);
/** Long, because the program takes seconds on an overloaded machine, and systemd ends a host that reports no start. */
const LIMIT_MS = 30_000;

/**
 * Returns a function to be called at each phase of the host; it does nothing without a service manager. Removes the
 * variables of the protocol from `env`, so that no service can report for the host.
 */
export function serviceManagerOf(env: NodeJS.ProcessEnv): (phase: HostPhase, host: StackwardenHost) => void {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC, WATCHDOG_PID = String(process.pid) } = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
  if (socket === undefined) return () => undefined;
  const watchdogMs = WATCHDOG_PID === String(process.pid) ? Number(WATCHDOG_USEC ?? 0) / 1_000 : 0;
  let watchdog: NodeJS.Timeout | undefined;
  let hasWarned = false;
  let unsent = 0;
  let sent = Promise.resolve();
  /** Sends messages one after the other, because the last one counts for systemd. */
  const send = (host: StackwardenHost, ...assignments: string[]): void => {
    unsent += 1;
    sent = sent.then(async () => {
      try {
        const options = { env: { ...publicEnvironment(env), NOTIFY_SOCKET: socket }, timeout: LIMIT_MS };
        await run('systemd-notify', assignments, options);
      } catch (error) {
        const remedy = 'systemd-notify of the package systemd must be on PATH, or Type=exec be in the unit';
        if (!hasWarned) host.log.warn(`systemd cannot be told of this host: ${remedy}`, error);
        hasWarned = true;
      } finally {
        unsent -= 1;
      }
    });
  };
  return (phase, host) => {
    send(host, ...assignmentsOf(phase, host));
    if (phase === 'stopping') clearInterval(watchdog);
    else if (watchdogMs > 0) {
      // Twice per interval, as systemd advises. It is skipped while messages wait, so that it delays none on a slow
      // machine.
      watchdog ??= setInterval(() => {
        if (unsent === 0) send(host, 'WATCHDOG=1');
      }, watchdogMs / 2);
    }
  };
}

function assignmentsOf(phase: HostPhase, { address }: StackwardenHost): string[] {
  if (phase === 'stopping') return ['STOPPING=1', 'STATUS=stopping'];
  if (phase === 'reloading') {
    const monotonicUsec = process.hrtime.bigint() / 1_000n;
    return ['RELOADING=1', `MONOTONIC_USEC=${monotonicUsec}`, 'STATUS=reading the configuration again'];
  }
  const status =
    address === null ? 'the API is switched off' : `answers on http://${urlHost(address.host)}:${address.port}`;
  return ['READY=1', `STATUS=${status}`];
}
