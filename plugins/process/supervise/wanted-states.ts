// Which processes should run: the last start or stop by hand, kept over crashes and upgrades, otherwise `enabled`.
import type { NamedBlock } from '#core';
import type { StopOptions, WantedState } from '../contract.ts';
import type { StateFile, WantedRecord } from './state-file.ts';

const MS_PER_S = 1_000;

export class WantedStates {
  readonly #state: StateFile;
  /** Processes that have been ready since they became wanted. */
  readonly #ready = new Set<string>();
  /** Starts by hand of processes that were not enabled before, until it is known whether they are refused. */
  readonly #wishes = new Map<string, { readonly before: WantedRecord | undefined; readonly wish: WantedRecord }>();
  #revision = 0;

  constructor(state: StateFile) {
    this.#state = state;
  }

  /** A number that changes when the set of processes enabled by hand may have changed. */
  get revision(): number {
    return this.#revision;
  }

  /** The same object until it changes; null when the process was never started or stopped by hand. */
  of(processName: string): WantedState | null {
    return this.#state.wanted(processName) ?? null;
  }

  isStopped(processName: string): boolean {
    return this.of(processName)?.state === 'stopped';
  }

  /** Whether the process is enabled in the configuration or was started by hand. */
  isEnabled({ processName, block }: NamedBlock): boolean {
    return block.enabled === true || this.#state.wanted(processName)?.shown === true;
  }

  /** Whether the process is to run: enabled without `autostart: false`, or started by hand. */
  isWanted(named: NamedBlock): boolean {
    const state = this.of(named.processName)?.state;
    return this.isEnabled(named) && state !== 'stopped' && (named.block.autostart !== false || state === 'running');
  }

  wasReady(processName: string): boolean {
    return this.#ready.has(processName);
  }

  markReady(processName: string): void {
    this.#ready.add(processName);
  }

  /** Returns what `withdraw` takes back when the start is refused. */
  start(named: NamedBlock, by: string): WantedRecord {
    const { processName } = named;
    if (!this.isWanted(named)) this.#ready.delete(processName);
    const earlier = this.#wishes.get(processName);
    const before = earlier === undefined ? this.#state.wanted(processName) : earlier.before;
    const isNew = earlier !== undefined || !this.isEnabled(named);
    const wish = this.#set(processName, { state: 'running', by, at: Date.now() / MS_PER_S, shown: true });
    if (isNew) this.#wishes.set(processName, { before, wish });
    return wish;
  }

  /** Makes a start by hand final: `withdraw` no longer takes it back. */
  keep(processName: string): void {
    this.#wishes.delete(processName);
  }

  /**
   * Takes back a refused start: a process that was not enabled before does not become enabled by it. False when the
   * wanted state stays as it is.
   */
  withdraw(processName: string, refused: WantedRecord): boolean {
    const known = this.#wishes.get(processName);
    if (known?.wish !== refused) return false;
    if (known.before === undefined) this.forget(processName);
    else this.#set(processName, known.before);
    this.#wishes.delete(processName);
    return true;
  }

  /**
   * Keeps `shown`: a process that was started and then stopped by hand remains visible as enabled. One that
   * `isRestarted` is wanted again by the next host, which otherwise would not know that a start was to follow.
   */
  stop({ processName }: NamedBlock, by: string, { isRestarted = false }: StopOptions = {}): void {
    const shown = this.#state.wanted(processName)?.shown ?? false;
    this.#wishes.delete(processName);
    const stopped = { state: 'stopped', by, at: Date.now() / MS_PER_S, shown } as const;
    this.#set(processName, isRestarted ? { ...stopped, restarting: true } : stopped);
  }

  /** Lets the configuration decide again. */
  forget(processName: string): void {
    this.#ready.delete(processName);
    this.#wishes.delete(processName);
    this.#state.deleteWanted(processName);
    this.#revision += 1;
  }

  forgetAll(): void {
    this.#wishes.clear();
    this.#state.deleteWanted();
    this.#revision += 1;
  }

  #set(processName: string, record: WantedRecord): WantedRecord {
    const before = this.#state.wanted(processName)?.shown ?? false;
    this.#state.setWanted(processName, Object.freeze(record));
    if (record.shown !== before) this.#revision += 1;
    return record;
  }
}
