// Which processes should run: a user's word, kept over crashes and upgrades, and where nobody has spoken `enabled`.
import type { NamedBlock } from '#core';
import type { WantedState } from '../contract.ts';
import type { StateFile } from './state-file.ts';

const MS_PER_S = 1_000;

export class WantedStates {
  readonly #state: StateFile;
  /** Processes that have been ready since they are wanted. */
  readonly #ready = new Set<string>();
  #revision = 0;

  constructor(state: StateFile) {
    this.#state = state;
  }

  /** Another number after each change of what is enabled by hand. */
  get revision(): number {
    return this.#revision;
  }

  /** The same object until it changes; null: nobody has said anything. */
  of(processName: string): WantedState | null {
    return this.#state.wanted(processName) ?? null;
  }

  isStopped(processName: string): boolean {
    return this.of(processName)?.state === 'stopped';
  }

  /** Whatever is enabled in the configuration, or was started by hand. */
  isEnabled({ processName, block }: NamedBlock): boolean {
    return block.enabled === true || this.#state.wanted(processName)?.shown === true;
  }

  isWanted(named: NamedBlock): boolean {
    return this.isEnabled(named) && !this.isStopped(named.processName);
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

  /** It is shown as before: what a user has started and stopped stays in sight. */
  stop({ processName }: NamedBlock, by: string): void {
    const shown = this.#state.wanted(processName)?.shown ?? false;
    this.#set(processName, { state: 'stopped', by, at: Date.now() / MS_PER_S, shown });
  }

  /** The configuration decides again. */
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
