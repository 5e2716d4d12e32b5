// Records every event of a test host, in order, with a plugin in a folder of its own.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import type { EventType } from '../../core/contract/plugin.ts';
import type {} from '../../plugins/auto-restart/contract.ts';
import type {} from '../../plugins/process/contract.ts';
import { pluginsDir } from './host.ts';

interface RecordedEvent {
  readonly type: EventType;
  readonly plugin: string;
  readonly at: number;
  readonly data: { readonly processName?: string; readonly reason?: string };
}

export interface EventRecorder {
  /** The plugin folders to pass to `startHost`. */
  readonly pluginDirs: readonly string[];
  /** The plugins to pass to `startHost`. */
  readonly plugins: readonly string[];
  readonly events: RecordedEvent[];
  /** Counts events of a type for one process; with null, those that belong to no process. */
  count(type: EventType, processName: string | null): number;
}

/** `plugins` are further plugins of the product. */
export async function recordEvents(t: Test, plugins: readonly string[] = []): Promise<EventRecorder> {
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-recorder-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const events: RecordedEvent[] = [];
  const place = Symbol.for(dir);
  Object.assign(globalThis, { [place]: events });
  await mkdir(path.join(dir, 'recorder'));
  await writeFile(
    path.join(dir, 'recorder', 'index.mjs'),
    `export default { name: 'recorder', host: '^1', setup(host) {
      host.on('*', event => void globalThis[Symbol.for(${JSON.stringify(dir)})].push(event))
    } }`,
  );
  return {
    pluginDirs: [pluginsDir, dir],
    plugins: ['config', 'process', 'auto-restart', 'health-probe', 'recorder', ...plugins],
    events,
    count: (type, processName) =>
      events.filter(event => event.type === type && (event.data.processName ?? null) === processName).length,
  };
}
