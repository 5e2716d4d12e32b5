// One plugin of the set: where it was found, how far its set-up has come, and what is reported of it.
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
  /** As stacks name it. */
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
  /** Why it failed, where others may end that by what they do. */
  rivalry: Rivalry | undefined;
}

export function newEntry(found: PluginFolder): PluginEntry {
  let folder: string | undefined;
  return {
    name: found.name,
    found,
    // Asked for at a fault only, and looked up for hundreds of folders at a start otherwise.
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

/** What it registered is looked up when somebody asks, as most look at its state alone. */
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

/** In order of set-up, and those that wait for each other. */
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
