// All plugins of one host: finds, imports, sets up, withdraws and reloads them, one change at a time.
import type { PluginReport } from '../contract/host.ts';
import type { Logger } from '../contract/log.ts';
import type { Disposer, Plugin } from '../contract/plugin.ts';
import { causesOf } from '../kit/causes.ts';
import type { FaultPlace } from '../kit/owner.ts';
import { turnWithTime } from '../kit/turns.ts';
import { WorkQueue } from '../kit/work-queue.ts';
import { findPluginFolders, importPlugin, isOfProduct, type PluginFolder } from './discover.ts';
import { explained } from './import-fault.ts';
import { asHost, asThrown, runAs } from './invoke.ts';
import { JoinedPlugins } from './joined-plugins.ts';
import { LateLoad, withinLoadTime } from './load-deadline.ts';
import { inTurn } from './order.ts';
import { isChosen, type PluginChoice } from './plugin-choice.ts';
import { DatabaseInUse } from './plugin-database.ts';
import { entriesInOrder, newEntry, type PluginEntry, reportOf } from './plugin-entry.ts';
import { createPluginHost, type Registries } from './plugin-host.ts';
import { parseSection, sectionPath } from './plugin-section.ts';
import { isOver, rivalryOf } from './rivalry.ts';
import { Scope } from './scope.ts';
import { folderOfCode } from './source-place.ts';
import { isNoService, isWithheld } from './withheld.ts';

const IMPORTS_AT_ONCE = 4;
/** The part of a set-up's deadline after which plugins that do not depend on it are set up meanwhile. */
const PATIENCE_SHARE = 0.1;
/** The reason of a plugin whose set-up ended early in a dry run, because it would have changed something. */
const SET_UP_IN_PART = 'set up as far as it changes nothing';

export interface PluginDeadlines {
  readonly importMs: number;
  readonly setupMs: number;
  readonly disposeMs: number;
  /** Upper limits for the deadlines of calls, by place. */
  readonly callMs?: Partial<Record<FaultPlace, number>>;
}

interface Loading {
  readonly entry: PluginEntry;
  readonly scope: Scope;
  readonly imported: Promise<Plugin>;
  readonly startedMs: number;
}

export interface PluginSetOptions {
  readonly directories: () => readonly string[];
  readonly choice: () => PluginChoice;
  /** Why a folder that could be loaded must not be; null when it may be. */
  readonly refusalOf: (folder: PluginFolder) => Promise<string | null>;
  readonly deadlines: PluginDeadlines;
  readonly registries: Registries;
  readonly logger: (name: string) => Logger;
  readonly required: () => readonly string[];
  /** Called after each successful set-up of a plugin. */
  readonly onReady: (scope: Scope) => Promise<void>;
  /** Called after each change of a plugin's state. */
  readonly onChange: () => void;
}

export class PluginSet {
  readonly #options: PluginSetOptions;
  readonly #entries = new Map<string, PluginEntry>();
  readonly #generations = new Map<string, number>();
  readonly #changes = new WorkQueue({ concurrency: 1 });
  /** Contributors whose values were found not to fit while a change was in progress. */
  readonly #refusals = new Map<Scope, Error>();
  readonly #closing = new AbortController();
  /**
   * Abandons plugins that are not required. Aborts with `#closing`, or before it while a stop waits for required ones.
   */
  readonly #hurrying = new AbortController();

  /** Whether plugins stay as they are, because the host stops. */
  #isLast = false;

  constructor(options: PluginSetOptions) {
    this.#options = options;
  }

  /** Brings the plugins in line with the folders; plugins that `changed` names are reloaded. */
  refresh(changed: ReadonlySet<string> = new Set()): Promise<void> {
    return this.#change(async () => {
      if (!this.#isLast) await this.#refresh(changed);
    });
  }

  /** Sets failed or running plugins up again with the present configuration. */
  restart(names: ReadonlySet<string>): Promise<void> {
    return this.#change(async () => {
      if (this.#isLast) return;
      for (const name of names) await this.#withdraw(name, 'pending', null);
      await this.#setUpPending();
    });
  }

  /**
   * Sets a failed plugin up again, and failed plugins that it needs. One that could not be imported is imported again.
   */
  retry(name: string): Promise<void> {
    return this.#change(async () => {
      if (this.#isLast) return;
      for (const entry of this.#withNeeds(name)) {
        if (entry.state !== 'failed') continue;
        if (entry.plugin === undefined) {
          this.#beginGeneration(entry.name);
          await this.#load([entry.found], this.#options.choice());
        } else entry.state = 'pending';
      }
      await this.#setUpPending();
    });
  }

  /** The plugin and everything that it needs, however far down. */
  #withNeeds(name: string): Set<PluginEntry> {
    const found = new Set<PluginEntry>();
    const add = (wanted: string): void => {
      const entry = this.#entries.get(wanted);
      if (entry === undefined || found.has(entry)) return;
      found.add(entry);
      for (const needed of entry.plugin?.needs ?? []) add(needed);
    };
    add(name);
    return found;
  }

  /** The plugin whose code made an error, if that code ran as another plugin or as the host; else undefined. */
  ownerOf(error: unknown, ranAs: Scope | undefined): Scope | undefined {
    const byFolder = new Map([...this.#entries.values()].map(entry => [entry.realFolder, entry]));
    // The source map of the product's plugins takes memory, and would hardly ever blame another of them.
    const usesMaps = ranAs === undefined || !isOfProduct(this.folderOf(ranAs.plugin)?.folder ?? '');
    const entry = byFolder.get(folderOfCode([...byFolder.keys()], error, usesMaps) ?? '');
    return entry === undefined || entry.name === ranAs?.plugin ? undefined : (entry.scope ?? entry.importScope);
  }

  /** Withdraws a plugin whose own timers or emitters threw. */
  fail(scope: Scope, error: unknown): void {
    if (this.#options.registries.dryRun && isWithheld(error)) return;
    scope.fault('uncaught', error);
    void this.#change(async () => {
      const entry = this.#entries.get(scope.plugin);
      if (entry?.scope === undefined || (entry.scope !== scope && entry.importScope !== scope)) return;
      await this.#withdraw(scope.plugin, 'failed', `uncaught error: ${scope.describe(error)}`);
      await this.#setUpPending();
    });
  }

  /** Withdraws a plugin whose contribution does not fit, once the present change is done. */
  refuse(scope: Scope, error: Error): void {
    scope.fault('contribution', error);
    this.#refusals.set(scope, error);
    void this.#change(() => this.#dropRefused());
  }

  /** Prevents further set-ups and abandons what is being loaded. */
  stopLoading(): void {
    this.#closing.abort();
    this.#hurrying.abort();
  }

  /** Same as `stopLoading`, but required plugins go on, because they deal with processes that an earlier host left. */
  hurryLoading(): void {
    this.#hurrying.abort();
  }

  #loadingSignal(entry: PluginEntry): AbortSignal {
    const isRequired = this.#options.required().some(name => this.#withNeeds(name).has(entry));
    return isRequired ? this.#closing.signal : this.#hurrying.signal;
  }

  /**
   * Resolves when no change is under way: a plugin that is being loaded again has things to stop, too. No plugin is
   * loaded again afterwards, nor any that waits for its turn, because it would start what is being stopped.
   */
  lastChange(): Promise<void> {
    this.#isLast = true;
    return this.#changes.onIdle();
  }

  /** Disposes of every plugin in reverse order of set-up. */
  close(): Promise<void> {
    this.stopLoading();
    return this.#changes.add(async () => {
      for (const entry of this.#readyEntries().reverse()) await entry.scope?.dispose();
    });
  }

  /** Makes one change at a time. It runs as code of the host, even if a plugin caused it. */
  async #change(change: () => Promise<void>): Promise<void> {
    const run = async (): Promise<void> => {
      if (this.#closing.signal.aborted) return;
      try {
        await change();
      } finally {
        this.#options.registries.events.release();
      }
      this.#options.onChange();
    };
    await asHost(() => this.#changes.add(run));
  }

  folderOf(name: string): PluginFolder | undefined {
    return this.#entries.get(name)?.found;
  }

  /** The plugin that owns a section of the configuration, by dotted path: `dumb.<name>`, with `-` as `_`. */
  sectionOwners(): ReadonlyMap<string, string> {
    const owners = [...this.#entries.values()].filter(entry => entry.plugin?.config !== undefined);
    return new Map(owners.map(entry => [sectionPath(entry.name).join('.'), entry.name]));
  }

  reports(): PluginReport[] {
    return [...this.#entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(entry => this.#reportOf(entry));
  }

  /** The reports of required plugins that are not ready. */
  missing(): PluginReport[] {
    return this.#options.required().flatMap(name => {
      const entry = this.#entries.get(name);
      return entry === undefined || entry.state === 'ready' || entry.state === 'disabled' ? [] : this.#reportOf(entry);
    });
  }

  #reportOf(entry: PluginEntry): PluginReport {
    return reportOf(entry, this.#options.required().includes(entry.name), this.#options.registries);
  }

  async #refresh(changed: ReadonlySet<string>): Promise<void> {
    const choice = this.#options.choice();
    const found = await findPluginFolders(this.#options.directories(), choice.override);
    const folders = await Promise.all(
      found.map(async folder => ({ ...folder, refusal: folder.refusal ?? (await this.#options.refusalOf(folder)) })),
    );
    const present = new Map(folders.map(found => [found.name, found]));
    const kept = this.#indispensable();
    for (const entry of [...this.#entries.values()].reverse()) {
      const found = present.get(entry.name);
      if (found === undefined && kept.has(entry)) {
        this.#tellKept(entry);
        continue;
      }
      const same = found?.indexFile === entry.found.indexFile && !changed.has(entry.name);
      if (same && isChosen(entry.name, choice) === (entry.state !== 'disabled')) continue;
      // A folder that is gone may come back with other content, and not be watched meanwhile.
      if (changed.has(entry.name) || found === undefined) this.#beginGeneration(entry.name);
      await this.#withdraw(entry.name, 'pending', null);
      this.#entries.delete(entry.name);
      if (found === undefined) this.#options.logger('host').info(`the plugin ${entry.name} is gone`);
    }
    const added = folders.filter(found => !this.#entries.has(found.name));
    await this.#load(added, choice);
    await this.#setUpPending();
  }

  /** Makes the next import of the plugin read its files again, instead of using the module cache. */
  #beginGeneration(name: string): void {
    this.#generations.set(name, (this.#generations.get(name) ?? 0) + 1);
  }

  /**
   * The product's required plugins and all that they need, as far as they are ready. They stay when the product's
   * folder is deleted: without them, the host would supervise nothing, or let everyone in.
   */
  #indispensable(): Set<PluginEntry> {
    const all = this.#options.required().flatMap(name => [...this.#withNeeds(name)]);
    return new Set(all.filter(({ state, found }) => state === 'ready' && isOfProduct(found.folder)));
  }

  #tellKept(entry: PluginEntry): void {
    if (entry.reason !== null) return;
    entry.reason = 'its folder is gone; it stays until Stackwarden is started again, because required plugins need it';
    this.#options.logger('host').warn(`the plugin ${entry.name}: ${entry.reason}`);
  }

  /**
   * Folders are imported concurrently, because importing mostly waits. A late import may have waited for another that
   * blocked the thread, so it gets its time once more, alone.
   */
  async #load(folders: readonly PluginFolder[], choice: PluginChoice): Promise<void> {
    const late: Loading[] = [];
    const chosen = folders.filter(({ name }) => isChosen(name, choice));
    const joined = await JoinedPlugins.forLoading(chosen.length, folders.length);
    const queue = new WorkQueue({ concurrency: IMPORTS_AT_ONCE });
    await queue.addAll(
      folders.map(found => async () => {
        await turnWithTime();
        const loading = this.#beginLoad(found, choice, joined);
        if (loading !== undefined && !(await this.#endLoad(loading, true))) late.push(loading);
      }),
    );
    for (const loading of late) await this.#endLoad(loading, false);
  }

  #beginLoad(found: PluginFolder, choice: PluginChoice, joined: JoinedPlugins): Loading | undefined {
    const entry = newEntry(found);
    this.#entries.set(found.name, entry);
    if (!isChosen(found.name, choice)) {
      entry.state = 'disabled';
      entry.reason = 'left out by dumb.plugins';
      return undefined;
    }
    if (this.#closing.signal.aborted) return undefined;
    const scope = this.#scopeFor(entry);
    entry.importScope = scope;
    if (found.refusal !== null) {
      this.#markFailed(entry, scope, new Error(found.refusal));
      return undefined;
    }
    const generation = this.#generations.get(found.name) ?? 0;
    const imported = runAs(scope, 'its import', () => importPlugin(found, generation, joined));
    // `#endLoad` awaits the promise later; until then a rejection must not count as unhandled.
    imported.catch(() => undefined);
    return { entry, scope, imported, startedMs: performance.now() };
  }

  /** Returns false when the import is late and `mayBeLate` allows a second try. */
  async #endLoad({ entry, scope, imported, startedMs }: Loading, mayBeLate: boolean): Promise<boolean> {
    const what = `the import of ${entry.name}`;
    const { importMs: ms } = this.#options.deadlines;
    const limits = { ms, what, signal: this.#loadingSignal(entry), isKnownLate: !mayBeLate };
    try {
      entry.plugin = await withinLoadTime(() => imported, limits);
    } catch (thrown) {
      const error = asThrown(scope, 'its import', thrown);
      if (mayBeLate && error instanceof LateLoad) return false;
      if (this.#options.registries.dryRun && isWithheld(error)) {
        entry.state = 'skipped';
        entry.reason = 'changes something when it is imported, so only a start can tell';
      } else this.#markFailed(entry, scope, await explained(error, entry.found));
    }
    entry.loadMs = Math.round(performance.now() - startedMs);
    return true;
  }

  #scopeFor({ name, found, errors }: PluginEntry): Scope {
    const { deadlines, logger } = this.#options;
    const { disposeMs, callMs } = deadlines;
    const ownerOf = (error: unknown, ranAs: Scope) => this.ownerOf(error, ranAs);
    return new Scope({ plugin: name, folder: found.folder, log: logger(name), disposeMs, callMs, errors, ownerOf });
  }

  /**
   * Sets up every pending plugin, in order. Plugins that were skipped, or failed because of another, are tried again.
   */
  async #setUpPending(): Promise<void> {
    do {
      await this.#setUpInOrder();
      await this.#dropRefused();
    } while (this.#readmit());
  }

  async #setUpInOrder(): Promise<void> {
    const isUsable = ({ plugin, state, rivalry }: PluginEntry) =>
      plugin !== undefined && (state !== 'failed' || rivalry === 'cycle');
    const { sorted, cycles } = entriesInOrder([...this.#entries.values()].filter(isUsable));
    for (const [name, cycle] of cycles) {
      const entry = this.#entries.get(name);
      const reason = `plugins need each other: ${cycle}`;
      if (entry === undefined || entry.reason === reason) continue;
      this.#markFailed(entry, this.#scopeFor(entry), new Error(reason));
      entry.rivalry = 'cycle';
    }
    const { signal } = this.#closing;
    const patienceMs = this.#options.deadlines.setupMs * PATIENCE_SHARE;
    await inTurn(sorted, { patienceMs, signal }, async ({ entry, needs }) => {
      if (entry.state === 'ready' || entry.state === 'disabled') return;
      const missing = needs.find(name => this.#entries.get(name)?.state !== 'ready');
      await turnWithTime();
      if (this.#loadingSignal(entry).aborted) return;
      if (missing === undefined) return this.#setUp(entry);
      entry.state = 'skipped';
      entry.reason = `needs ${missing}`;
    });
  }

  /** Makes plugins pending that failed because of a name which is free again. Returns whether there are any. */
  #readmit(): boolean {
    const readmitted = [...this.#entries.values()].filter(
      ({ state, rivalry }) => state === 'failed' && isOver(rivalry, name => this.#entries.get(name)),
    );
    for (const entry of readmitted) entry.state = 'pending';
    return readmitted.length > 0 && !this.#closing.signal.aborted;
  }

  async #dropRefused(): Promise<void> {
    for (const [scope, error] of this.#refusals) {
      this.#refusals.delete(scope);
      if (this.#entries.get(scope.plugin)?.scope === scope) await this.#withdraw(scope.plugin, 'failed', error.message);
    }
  }

  async #setUp(entry: PluginEntry): Promise<void> {
    const { plugin } = entry;
    if (plugin === undefined) return;
    const { deadlines, registries } = this.#options;
    const scope = this.#scopeFor(entry);
    const startedMs = performance.now();
    try {
      const host = createPluginHost(registries, scope, entry.found);
      const setup = async (): Promise<unknown> => {
        const disposer: unknown = await runAs(scope, 'its set-up', () =>
          plugin.setup(host, parseSection(plugin, registries, scope) as never),
        );
        // What a set-up made after its deadline would stay, and be in the way of the next set-up.
        if (scope.disposed && typeof disposer === 'function') scope.disposeLate(disposer as Disposer);
        return disposer;
      };
      const signal = this.#loadingSignal(entry);
      const what = `the setup of ${entry.name}`;
      const disposer: unknown = await withinLoadTime<unknown>(setup, { ms: deadlines.setupMs, what, signal });
      if (typeof disposer === 'function') scope.own(disposer as Disposer);
      else if (disposer !== undefined && disposer !== null)
        scope.log.warn(`what the setup of ${entry.name} returns is ignored, because it is no function`);
      entry.scope = scope;
      entry.state = 'ready';
      entry.reason = null;
      entry.rivalry = undefined;
      entry.loadMs = (entry.loadMs ?? 0) + Math.round(performance.now() - startedMs);
      await this.#options.onReady(scope);
    } catch (thrown) {
      const error = asThrown(scope, 'its set-up', thrown);
      if (registries.dryRun && (isWithheld(error) || (isNoService(error) && this.#isAnyInPart()))) {
        entry.scope = scope;
        entry.state = 'ready';
        entry.reason = SET_UP_IN_PART;
        return;
      }
      await scope.dispose();
      entry.scope = undefined;
      this.#markFailed(entry, scope, error);
    }
  }

  /** Whether a set-up ended early in a dry run, so that services may be missing which a start would have. */
  #isAnyInPart(): boolean {
    return [...this.#entries.values()].some(({ reason }) => reason === SET_UP_IN_PART);
  }

  /** Disposes of a plugin, and before it of every ready plugin that needs it. */
  async #withdraw(name: string, state: PluginEntry['state'], reason: string | null): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    for (const other of this.#readyEntries().reverse()) {
      if (other !== entry && other.plugin?.needs?.includes(name)) {
        await this.#withdraw(other.name, 'skipped', `needs ${name}`);
      }
    }
    const { scope } = entry;
    if (scope !== undefined) this.#options.registries.events.hold(scope);
    // The state changes before the disposers run, because they may take long.
    entry.state = entry.plugin === undefined ? 'failed' : state;
    if (reason !== null) entry.reason = reason;
    await scope?.dispose();
    entry.scope = undefined;
  }

  /** The ready plugins in order of set-up, so that each comes after those that it needs. */
  #readyEntries(): PluginEntry[] {
    const ready = [...this.#entries.values()].filter(entry => entry.state === 'ready');
    return entriesInOrder(ready).sorted.map(({ entry }) => entry);
  }

  #markFailed(entry: PluginEntry, scope: Scope, error: unknown): void {
    entry.state = 'failed';
    entry.reason = scope.describe(error);
    entry.rivalry = rivalryOf(error, name => this.#entries.get(name));
    this.#options.logger(entry.name).error(`plugin ${entry.name} failed${scope.at(error)}`, error);
    const inUse = [...causesOf(error)].find(cause => cause instanceof DatabaseInUse);
    void inUse?.closed.then(() => {
      if (this.#entries.get(entry.name) === entry && entry.state === 'failed') void this.retry(entry.name);
    });
  }
}
