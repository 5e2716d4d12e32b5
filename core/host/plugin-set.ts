// All plugins of one host and their life: found, imported, set up in order, withdrawn, loaded again. One change at a time.
import PQueue from 'p-queue';
import { z } from 'zod';
import type { PluginReport, PluginState } from '../contract/host.ts';
import type { Logger } from '../contract/log.ts';
import type { Plugin } from '../contract/plugin.ts';
import { withDeadline } from '../kit/deadline.ts';
import { findPluginFolders, importPlugin, type PluginFolder } from './discover.ts';
import { runAs } from './isolate.ts';
import { orderPlugins } from './order.ts';
import { createPluginHost, type Registries } from './plugin-host.ts';
import { Scope } from './scope.ts';
import { isWithheld } from './withheld.ts';

/** All share one thread: with more at once the deadline of each would measure the others, on a slow machine to its harm. */
const IMPORTS_AT_ONCE = 4;

export interface PluginDeadlines {
  readonly importMs: number;
  readonly setupMs: number;
  readonly disposeMs: number;
}

export interface PluginChoice {
  /** Folder names; empty: all. */
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
  readonly override: readonly string[];
}

interface Entry {
  readonly name: string;
  readonly found: PluginFolder;
  /** `pending`: imported, not set up yet. */
  state: PluginState | 'pending';
  reason: string | null;
  plugin: Plugin | undefined;
  scope: Scope | undefined;
  loadMs: number | null;
}

export interface PluginSetOptions {
  readonly directories: () => readonly string[];
  readonly choice: () => PluginChoice;
  readonly deadlines: PluginDeadlines;
  readonly registries: Registries;
  readonly logger: (name: string) => Logger;
  /** Called after each plugin that was set up. */
  readonly onReady: (scope: Scope) => Promise<void>;
}

export class PluginSet {
  readonly #options: PluginSetOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #generations = new Map<string, number>();
  readonly #changes = new PQueue({ concurrency: 1 });

  constructor(options: PluginSetOptions) {
    this.#options = options;
  }

  /** Brings the plugins in line with the folders; those of `changed` are loaded anew. */
  refresh(changed: ReadonlySet<string> = new Set()): Promise<void> {
    return this.#changes.add(() => this.#refresh(changed));
  }

  /** Sets failed or running plugins up again with the present configuration. */
  restart(names: ReadonlySet<string>): Promise<void> {
    return this.#changes.add(async () => {
      for (const name of names) await this.#withdraw(name, 'pending', null);
      await this.#setUpPending();
    });
  }

  /** Withdraws a plugin whose own timers or emitters threw. */
  fail(scope: Scope, error: unknown): void {
    if (this.#options.registries.dryRun && isWithheld(error)) return;
    scope.fault('uncaught', error);
    void this.#changes.add(async () => {
      if (this.#entries.get(scope.plugin)?.scope !== scope) return;
      await this.#withdraw(scope.plugin, 'failed', `uncaught error: ${messageOf(error)}`);
      await this.#setUpPending();
    });
  }

  /** Disposes of every plugin in reverse order of set-up. */
  close(): Promise<void> {
    return this.#changes.add(async () => {
      for (const entry of this.#readyEntries().reverse()) await entry.scope?.dispose();
    });
  }

  scopeOf(name: string): Scope | undefined {
    return this.#entries.get(name)?.scope;
  }

  /** The configuration sections of plugins: `dumb.<name>`, with `-` as `_`. */
  sectionOwners(): ReadonlyMap<string, string> {
    const owners = [...this.#entries.values()].filter(entry => entry.plugin?.config !== undefined);
    return new Map(owners.map(entry => [sectionPath(entry.name).join('.'), entry.name]));
  }

  reports(): PluginReport[] {
    const { contributions, services, capabilities } = this.#options.registries;
    return [...this.#entries.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(entry => ({
        name: entry.name,
        state: entry.state === 'pending' ? 'skipped' : entry.state,
        reason: entry.reason,
        version: entry.plugin?.version ?? null,
        loadMs: entry.loadMs,
        folder: entry.found.folder,
        routes: entry.scope?.routes ?? [],
        streams: entry.scope?.streams ?? [],
        capabilities: capabilities.of(entry.name),
        contributions: contributions.of(entry.name),
        services: services.of(entry.name),
        errors: { ...entry.scope?.errors },
      }));
  }

  async #refresh(changed: ReadonlySet<string>): Promise<void> {
    const choice = this.#options.choice();
    const folders = await findPluginFolders(this.#options.directories(), choice.override);
    const present = new Map(folders.map(found => [found.name, found]));
    for (const entry of [...this.#entries.values()].reverse()) {
      const found = present.get(entry.name);
      const same = found?.indexFile === entry.found.indexFile && !changed.has(entry.name);
      if (same && isChosen(entry.name, choice) === (entry.state !== 'disabled')) continue;
      if (changed.has(entry.name)) this.#generations.set(entry.name, (this.#generations.get(entry.name) ?? 0) + 1);
      await this.#withdraw(entry.name, 'pending', null);
      this.#entries.delete(entry.name);
    }
    const added = folders.filter(found => !this.#entries.has(found.name));
    await new PQueue({ concurrency: IMPORTS_AT_ONCE }).addAll(added.map(found => () => this.#load(found, choice)));
    await this.#setUpPending();
  }

  async #load(found: PluginFolder, choice: PluginChoice): Promise<void> {
    const entry: Entry = {
      name: found.name,
      found,
      state: 'pending',
      reason: null,
      plugin: undefined,
      scope: undefined,
      loadMs: null,
    };
    this.#entries.set(found.name, entry);
    if (!isChosen(found.name, choice)) {
      entry.state = 'disabled';
      entry.reason = 'left out by dumb.plugins';
      return;
    }
    const startedMs = performance.now();
    try {
      if (found.refusal !== null) throw new Error(found.refusal);
      const generation = this.#generations.get(found.name) ?? 0;
      entry.plugin = await importPlugin(found, generation, this.#options.deadlines.importMs);
    } catch (error) {
      if (this.#options.registries.dryRun && isWithheld(error)) {
        entry.state = 'skipped';
        entry.reason = 'changes something when it is imported, so only a start can tell';
      } else this.#markFailed(entry, error);
    }
    entry.loadMs = Math.round(performance.now() - startedMs);
  }

  /** Sets up, in order, everything that waits for it; what was skipped gets a new chance. */
  async #setUpPending(): Promise<void> {
    const usable = [...this.#entries.values()].filter(entry => entry.plugin !== undefined && entry.state !== 'failed');
    const { sorted, cycles } = orderPlugins(
      usable.map(entry => ({
        name: entry.name,
        needs: entry.plugin?.needs ?? [],
        after: entry.plugin?.after ?? [],
        entry,
      })),
    );
    for (const [name, cycle] of cycles) {
      const entry = this.#entries.get(name);
      if (entry !== undefined) this.#markFailed(entry, new Error(`plugins need each other: ${cycle}`));
    }
    for (const { entry, needs } of sorted) {
      if (entry.state !== 'pending' && entry.state !== 'skipped') continue;
      const missing = needs.find(name => this.#entries.get(name)?.state !== 'ready');
      if (missing === undefined) await this.#setUp(entry);
      else {
        entry.state = 'skipped';
        entry.reason = `needs ${missing}`;
      }
    }
  }

  async #setUp(entry: Entry): Promise<void> {
    const { plugin } = entry;
    if (plugin === undefined) return;
    const { deadlines, registries, logger } = this.#options;
    const scope = new Scope(entry.name, logger(entry.name), deadlines.disposeMs);
    const startedMs = performance.now();
    try {
      const host = createPluginHost(registries, scope);
      const config = parseConfig(plugin, registries, scope);
      const setup = async () => runAs(scope, () => plugin.setup(host, config as never));
      const disposer = await withDeadline(setup, deadlines.setupMs, 'setup');
      if (typeof disposer === 'function') scope.own(disposer);
      entry.scope = scope;
      entry.state = 'ready';
      entry.reason = null;
      entry.loadMs = (entry.loadMs ?? 0) + Math.round(performance.now() - startedMs);
      await this.#options.onReady(scope);
    } catch (error) {
      if (registries.dryRun && isWithheld(error)) {
        entry.scope = scope;
        entry.state = 'ready';
        entry.reason = 'set up as far as it changes nothing';
        return;
      }
      await scope.dispose();
      entry.scope = undefined;
      this.#markFailed(entry, error);
    }
  }

  /** Disposes of a plugin and, before it, of everything ready that needs it. */
  async #withdraw(name: string, state: Entry['state'], reason: string | null): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    for (const other of this.#readyEntries().reverse()) {
      if (other !== entry && other.plugin?.needs?.includes(name)) {
        await this.#withdraw(other.name, 'skipped', `needs ${name}`);
      }
    }
    await entry.scope?.dispose();
    entry.scope = undefined;
    entry.state = entry.plugin === undefined ? 'failed' : state;
    if (reason !== null) entry.reason = reason;
  }

  /** In order of set-up: what a plugin needs comes before it. */
  #readyEntries(): Entry[] {
    const ready = [...this.#entries.values()].filter(entry => entry.state === 'ready');
    const { sorted } = orderPlugins(
      ready.map(entry => ({
        name: entry.name,
        needs: entry.plugin?.needs ?? [],
        after: entry.plugin?.after ?? [],
        entry,
      })),
    );
    return sorted.map(({ entry }) => entry);
  }

  #markFailed(entry: Entry, error: unknown): void {
    entry.state = 'failed';
    entry.reason = messageOf(error);
    this.#options.logger(entry.name).error(`plugin ${entry.name} failed`, error);
  }
}

function isChosen(name: string, { enabled, disabled }: PluginChoice): boolean {
  return !disabled.includes(name) && (enabled.length === 0 || enabled.includes(name));
}

function sectionPath(name: string): [string, string] {
  return ['dumb', name.replaceAll('-', '_')];
}

/** Registers the plugin's section and parses it; the message names the place, never the value. */
function parseConfig(plugin: Plugin, { config }: Registries, scope: Scope): unknown {
  if (plugin.config === undefined) return {};
  const schema = plugin.config(z);
  const path = sectionPath(plugin.name);
  scope.own(config.addSection({ path, schema }));
  const parsed = schema.safeParse(config.store.get(path) ?? {});
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(
    issue => `${[...path, ...issue.path.map(String)].join('.')}: ${issue.message}`,
  );
  throw new Error(`its configuration is not valid: ${issues.join('; ')}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
