// One plugin of the set: where it was found, the state of its set-up, and the report about it.
import type { PluginReport, PluginState } from '../contract/host.ts';
import type { Plugin } from '../contract/plugin.ts';
import type { PluginFolder } from './discover.ts';
import { orderPlugins } from './order.ts';
import type { Registries } from './plugin-host.ts';
import type { Rivalry } from './rivalry.ts';
import type { FaultCounts, Scope } from './scope.ts';
import { realFolder } from './source-place.ts';

export interface PluginEntry {
  readonly name: string;
  readonly found: PluginFolder;
  /** The folder as it appears in stack traces. */
  readonly realFolder: string;
  /** `pending` means imported but not yet set up. */
  state: PluginState | 'pending';
  reason: string | null;
  plugin: Plugin | undefined;
  /** Present while the plugin is ready. */
  scope: Scope | undefined;
  /** The scope that owns timers which the module started when it was imported. */
  importScope: Scope | undefined;
  readonly errors: FaultCounts;
  loadMs: number | null;
  /** Set when the plugin failed because of another plugin (see rivalry.ts). */
  rivalry: Rivalry | undefined;
}

export function newEntry(found: PluginFolder): PluginEntry {
  let folder: string | undefined;
  return {
    name: found.name,
    found,
    // A getter, because only faults need it, and a start would resolve the paths of hundreds of folders.
    get realFolder() {
      folder ??= realFolder(found.folder);
      return folder;
    },
    state: 'pending',
    reason: null,
    plugin: undefined,
    scope: undefined,
    importScope: undefined,
    errors: {},
    loadMs: null,
    rivalry: undefined,
  };
}

/** The report about a plugin. Some members are getters, because most readers look at the state alone. */
export function reportOf(
  entry: PluginEntry,
  required: boolean,
  { contributions, services, capabilities }: Pick<Registries, 'contributions' | 'services' | 'capabilities'>,
): PluginReport {
  return {
    name: entry.name,
    state: entry.state === 'pending' ? 'skipped' : entry.state,
    reason: entry.state === 'pending' ? 'its set-up has not ended yet' : entry.reason,
    version: entry.plugin?.version ?? null,
    loadMs: entry.loadMs,
    folder: entry.found.folder,
    routes: entry.scope?.routes ?? [],
    streams: entry.scope?.streams ?? [],
    get capabilities() {
      return capabilities.of(entry.name);
    },
    get contributions() {
      return contributions.of(entry.name);
    },
    get services() {
      return services.of(entry.name);
    },
    required,
    errors: { ...entry.errors },
  };
}

/** The entries in order of set-up, and those that wait for each other. */
export function entriesInOrder(entries: readonly PluginEntry[]) {
  return orderPlugins(
    entries.map(entry => ({
      name: entry.name,
      needs: entry.plugin?.needs ?? [],
      after: entry.plugin?.after ?? [],
      rank: entry.found.rank,
      entry,
    })),
  );
}
