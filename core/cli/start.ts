// `stackwarden start`: runs a host in the foreground, from its lock on the configuration directory to its exit code.
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createHost } from '../host/host.ts';
import type { StackwardenHost } from '../host/host-options.ts';
import { Example } from './example.ts';
import { limitHeapGrowth } from './heap-growth.ts';
import { closeInheritedDescriptors } from './inherited-descriptors.ts';
import { lockInstance } from './instance-lock.ts';
import type { PluginScope } from './plugins.ts';
import { serviceManagerOf } from './service-manager.ts';
import { holdYoungGeneration } from './young-generation.ts';

/** What the host makes is never writable by others, whatever its own user allowed. */
const WRITABLE_BY_OTHERS = 0o022;
/** A terminal and a package runner may both deliver one key press; only a later signal counts as a second one. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

export interface StartOptions extends PluginScope {
  readonly example: boolean;
  /** Value of `HostOptions.pace`; 1 unless a test sets another. */
  readonly pace: number;
}

/** The reader of the output may close it at any time: the log file has every line, and the host goes on. */
export async function start({ configDir, plugins, example: wantsExample, pace }: StartOptions): Promise<number> {
  const letGrow = holdYoungGeneration();
  closeInheritedDescriptors();
  process.umask(process.umask() | WRITABLE_BY_OTHERS);
  // The next build keeps a build whose directory is open (see core/build/swap.ts).
  openSync(fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, ''), 'r');
  const onCreated = stopOnSignals();
  const onPhase = serviceManagerOf(process.env);
  const lock = await lockInstance(configDir);
  // Supervision also works without a listener; then nothing else would keep the process alive.
  const alive = setInterval(() => undefined, 2 ** 30);
  const example = new Example(configDir);
  try {
    if (wantsExample) await example.write();
    await example.restore();
    const options = {
      configDir,
      pace,
      stdout: true,
      onCreated,
      onPhase,
      ...(plugins === undefined ? {} : { plugins, knownPluginsOnly: true }),
    };
    const host = await createHost(options);
    letGrow();
    limitHeapGrowth();
    if (host.address !== null) await lock.announce(host.address);
    if (process.pid === 1) {
      host.log.warn(
        'running as PID 1: ended orphans of services stay zombies; begin the command with stackwarden-init',
      );
    }
    return await host.stopped;
  } finally {
    clearInterval(alive);
    await example.release();
    await lock.release();
  }
}

/** Installed before anything is loaded: a signal that comes before the host exists stops it as soon as it does. */
function stopOnSignals(): (host: StackwardenHost) => void {
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
