// Replication in the background: runs one cycle after the other while it is enabled, and keeps its progress for users.
import type { Host } from '#core';
import { MAX_TIMER_MS } from '#kit/deadline';
import { errorText } from '#kit/error-text';
import { WorkQueue } from '#kit/work-queue';
import type { Cycles, Peer } from './cycles.ts';
import type { HttpRequestManager } from './http-request-manager.ts';
import { familyKeys, readInternals } from './internals.ts';
import { readSettings, SECTION_PATH, type SyncSettings } from './settings.ts';
import type { StateFile } from './state-file.ts';
import { type PeerSettings, type Topology, topologyOf } from './topology.ts';

const MS_PER_S = 1_000;
/** How long running changes on subordinates may take when the host stops. */
const STOP_MS = 4_000;

export interface Progress {
  /** The problem that stopped the last cycle; null when there was none. */
  readonly error: string | null;
  readonly warnings: readonly string[];
  /** The labels of the configured subordinates. */
  readonly labels: readonly string[];
  readonly nextPollMs: number | null;
}

export class Replication {
  readonly #host: Host;
  readonly #file: StateFile;
  readonly #lanes = new Map<string, WorkQueue>();
  readonly #stopping = new AbortController();
  readonly #cutting = new AbortController();
  #cycles: { readonly signature: string; readonly cycles: Cycles } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isChanged = false;
  #progress: Omit<Progress, 'nextPollMs'> = { error: null, warnings: [], labels: [] };
  /** When the next cycle is due, by `performance.now()`, as timers count: the time of day may be set meanwhile. */
  #dueMs: number | null = null;

  constructor(host: Host, file: StateFile) {
    this.#host = host;
    this.#file = file;
  }

  get progress(): Progress {
    const nextPollMs = this.#dueMs === null ? null : Date.now() + this.#dueMs - performance.now();
    return { ...this.#progress, nextPollMs };
  }

  get settings(): SyncSettings {
    return readSettings(this.#host.use('config.store'));
  }

  /** The problems of the configuration that keep replication from working. */
  async obstacles(): Promise<readonly string[]> {
    const { settings } = this;
    if (!settings.enabled) return [];
    const internals = await readInternals(this.#host);
    // A missing key is not reported here, because the program creates its key when it starts.
    const { errors, warnings } = topologyOf(
      settings,
      internals.map(instance => ({ ...instance, apiKey: instance.apiKey ?? '' })),
    );
    const section = SECTION_PATH.join('.');
    return [...new Set([...errors, ...warnings])].map(problem => `${section}: ${problem}`);
  }

  /** Applies the configuration. A running cycle is finished first, and the next one begins at once. */
  adjust(): void {
    if (this.#running !== undefined) this.#isChanged = true;
    else if (this.settings.enabled) this.#plan(0);
    else this.#rest();
  }

  /** Whether a change of these paths of the configuration concerns replication. */
  isConcerned(paths: readonly string[]): boolean {
    const keys = new Set([...SECTION_PATH, ...familyKeys(this.#host)]);
    return paths.some(changed => keys.has(changed.split('.', 1)[0] ?? ''));
  }

  /** Notes in the state that deletions are switched off: held ones go on when they are switched on again. */
  async noteOptions(): Promise<void> {
    if (this.settings.options.sync_deletes) return;
    // A file that cannot be used is reported by the next cycle.
    const state = await this.#file.load().catch(() => undefined);
    if (state != null && state.meta.holds !== null) state.meta.holds = { ...state.meta.holds, isSwitchedOff: true };
  }

  /** Stops after running changes on subordinates, and saves their results. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopping.abort();
    const cut = setTimeout(() => this.#cutting.abort(), STOP_MS);
    await this.#running;
    clearTimeout(cut);
    await this.#file.saveRest().catch((error: unknown) => this.#host.log.warn(errorText(error)));
  }

  /** Plans the next cycle. The pause is limited to the longest timer. */
  #plan(pauseMs: number): void {
    clearTimeout(this.#timer);
    if (this.#stopping.signal.aborted) return;
    const ms = Math.min(pauseMs, MAX_TIMER_MS);
    this.#dueMs = performance.now() + ms;
    this.#timer = setTimeout(() => {
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
      });
    }, ms).unref();
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#cycles = undefined;
    this.#progress = { error: null, warnings: [], labels: [] };
    this.#dueMs = null;
  }

  /** Runs one cycle and plans the next. Never rejects. */
  async #run(): Promise<void> {
    this.#isChanged = false;
    let pauseMs = this.#host.paced(this.settings.poll_interval_seconds * MS_PER_S);
    try {
      if (await this.#cycle()) pauseMs = 0;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#host.log.debug('a cycle of replication failed', error);
      this.#tell({ ...this.#progress, error: errorText(error) });
    }
    if (!this.settings.enabled) this.#rest();
    else this.#plan(this.#isChanged ? 0 : pauseMs);
  }

  /** Runs one cycle. Returns whether the next one should begin at once. */
  async #cycle(): Promise<boolean> {
    const { settings } = this;
    const topology = topologyOf(settings, await readInternals(this.#host));
    const { primary, labels, errors, warnings } = topology;
    this.#progress = { ...this.#progress, labels };
    if (primary === undefined) {
      this.#tell({ ...this.#progress, error: errors[0] ?? null, warnings, labels });
      return false;
    }
    const cycles = await this.#cyclesFor(settings, primary, topology);
    const report = await cycles.run();
    this.#tell({ ...this.#progress, error: report.error, warnings: [...warnings, ...report.warnings], labels });
    return report.hasMore;
  }

  /** The present cycles, or new ones after a change of the settings, an address or a key. */
  async #cyclesFor(settings: SyncSettings, primary: PeerSettings, { subordinates, labels }: Topology): Promise<Cycles> {
    const signature = JSON.stringify([settings, primary, subordinates, labels]);
    if (this.#cycles?.signature === signature) return this.#cycles.cycles;
    const { Cycles, HttpRequestManager } = await import('./engine.ts');
    const peerOf = (peer: PeerSettings): Peer => this.#peer(peer, HttpRequestManager);
    const state = await this.#file.load();
    const cycles = new Cycles({
      state,
      settings: settings.options,
      primary: peerOf(primary),
      subordinates: subordinates.map(peerOf),
      labels,
      save: () => this.#file.save(),
      saveCycle: () => this.#file.saveCycle(),
      changed: () => this.#file.changed(),
      nowMs: Date.now,
    });
    this.#cycles = { signature, cycles };
    return cycles;
  }

  #peer({ label, address, apiKey }: PeerSettings, Manager: typeof HttpRequestManager): Peer {
    const { host } = new URL(address);
    const lane = this.#lanes.get(host) ?? new WorkQueue({ concurrency: 1 });
    this.#lanes.set(host, lane);
    const signals = { stopping: this.#stopping.signal, signal: this.#cutting.signal };
    return { label, address, manager: new Manager({ host: this.#host, address, apiKey, lane, ...signals }) };
  }

  /** Sets the progress. Errors are logged when they begin and end, warnings when they begin, not at every cycle. */
  #tell(progress: Omit<Progress, 'nextPollMs'>): void {
    const { log } = this.#host;
    const { error, warnings } = this.#progress;
    if (progress.error !== null && progress.error !== error) log.warn(`replication of requests: ${progress.error}`);
    if (progress.error === null && error !== null) log.info('replication of requests works again');
    for (const warning of progress.warnings)
      if (!warnings.includes(warning)) log.warn(`replication of requests: ${warning}`);
    this.#progress = progress;
  }
}
