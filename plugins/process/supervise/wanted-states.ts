// Which processes should run: the last start or stop by hand, kept over crashes and upgrades, otherwise `enabled`.
import type { NamedBlock } from '#core';
import type { WantedState } from '../contract.ts';
import type { StateFile } from './state-file.ts';

const MS_PER_S = 1_000;

export class WantedStates {
  readonly #state: StateFile;
  /** Processes that have been ready since they became wanted. */
  readonly #ready = new Set<string>();
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

  /** Whether it is to run: enabled without `autostart: false`, or started by hand. */
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

  start(named: NamedBlock, by: string): void {
    if (!this.isWanted(named)) this.#ready.delete(named.processName);
    this.#set(named.processName, { state: 'running', by, at: Date.now() / MS_PER_S, shown: true });
  }

  /** Keeps `shown`: a process that was started and then stopped by hand remains visible as enabled. */
  stop({ processName }: NamedBlock, by: string): void {
    const shown = this.#state.wanted(processName)?.shown ?? false;
    this.#set(processName, { state: 'stopped', by, at: Date.now() / MS_PER_S, shown });
  }

  /** Lets the configuration decide again. */
  forget(processName: string): void {
    this.#ready.delete(processName);
    this.#state.deleteWanted(processName);
    this.#revision += 1;
  }

  forgetAll(): void {
    this.#state.deleteWanted();
    this.#revision += 1;
  }

  #set(processName: string, record: WantedState & { readonly shown: boolean }): void {
    this.#state.setWanted(processName, Object.freeze(record));
    this.#revision += 1;
  }
}
