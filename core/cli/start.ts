// `stackwarden start`: runs a host in the foreground, from its lock on the configuration directory to its exit code.
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createHost } from '../host/host.ts';
import type { StackwardenHost } from '../host/host-options.ts';
import { readJoinedPlugins } from '../host/joined-plugins.ts';
import { Example } from './example.ts';
import { limitHeapGrowth } from './heap-growth.ts';
import { closeInheritedDescriptors } from './inherited-descriptors.ts';
import { lockInstance } from './instance-lock.ts';
import { refuseUnknownPlugins } from './known-plugins.ts';
import type { PluginScope } from './plugins.ts';
import { serviceManagerOf } from './service-manager.ts';
import { holdOptimization } from './start-compiler.ts';
import { collectStartGarbage } from './start-garbage.ts';
import { holdYoungGeneration } from './young-generation.ts';

/** Group and others can never write to files that the host creates, whatever umask it was started with. */
const WRITABLE_BY_OTHERS = 0o022;

export interface StartOptions extends PluginScope {
  readonly example: boolean;
  /** Value of `HostOptions.pace`; 1 unless a test sets another. */
  readonly pace: number;
  /** Called with the host as soon as it exists. */
  readonly onCreated: (host: StackwardenHost) => void;
}

/**
 * Resolves with the exit code when the host has stopped. The reader of standard output may close it at any time: the
 * log file has every line, and the host goes on.
 */
export async function start({
  configDir,
  plugins,
  example: wantsExample,
  pace,
  onCreated,
}: StartOptions): Promise<number> {
  await refuseUnknownPlugins(configDir, plugins);
  closeInheritedDescriptors();
  process.umask(process.umask() | WRITABLE_BY_OTHERS);
  // The next build keeps a build whose directory is open (see core/build/swap.ts).
  openSync(fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, ''), 'r');
  const onPhase = serviceManagerOf(process.env);
  const lock = await lockInstance(configDir, () => {
    if (plugins === undefined) readJoinedPlugins();
  });
  const letGrow = holdYoungGeneration();
  const letOptimize = holdOptimization();
  // Supervision also works without a listener; then nothing else would keep the process alive.
  const alive = setInterval(() => undefined, 2 ** 30);
  const ended = new AbortController();
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
      ...(plugins === undefined ? {} : { plugins }),
    };
    const host = await createHost(options);
    limitHeapGrowth();
    letOptimize();
    void collectStartGarbage({ signal: ended.signal, pace }).then(letGrow);
    if (host.address !== null) await lock.announce(host.address);
    if (process.pid === 1) {
      host.log.warn(
        'running as PID 1: ended orphans of services stay zombies; begin the command with stackwarden-init',
      );
    }
    return await host.stopped;
  } finally {
    ended.abort();
    clearInterval(alive);
    await example.release();
    await lock.release();
  }
}
