// Keeps what the supervisor of a test host tells other plugins, in order.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import type { ProcessEvent } from '../../plugins/process/contract.ts';
import { pluginsDir } from './host.ts';

export interface EventRecorder {
  /** For `startHost`. */
  readonly pluginDirs: readonly string[];
  readonly plugins: readonly string[];
  readonly events: ProcessEvent[];
  count(type: ProcessEvent['type'], processName: string | null): number;
}

/** `plugins`: of the product, beside processes and configuration. */
export async function recordEvents(t: Test, plugins: readonly string[] = []): Promise<EventRecorder> {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-recorder-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const events: ProcessEvent[] = [];
  const place = Symbol.for(dir);
  Object.assign(globalThis, { [place]: events });
  await mkdir(path.join(dir, 'recorder'));
  await writeFile(
    path.join(dir, 'recorder', 'index.mjs'),
    `export default { name: 'recorder', host: '^1', setup(host) {
      host.tap('process.event', event => void globalThis[Symbol.for(${JSON.stringify(dir)})].push(event))
    } }`,
  );
  return {
    pluginDirs: [pluginsDir, dir],
    plugins: ['config', 'process', 'recorder', ...plugins],
    events,
    count: (type, processName) =>
      events.filter(event => event.type === type && event.processName === processName).length,
  };
}
