// The progress of the installations of processes, as answers show it.
import type { InstallProgress } from './contract.ts';

export class ProgressBoard {
  readonly #entries = new Map<string, InstallProgress>();
  #revision = 0;

  get revision(): number {
    return this.#revision;
  }

  of(processName: string): InstallProgress | undefined {
    return this.#entries.get(processName);
  }

  /** Most reports change nothing, because they come with every part of a download; then the revision stays. */
  show(processNames: Iterable<string>, progress: InstallProgress): void {
    for (const name of processNames) {
      const { phase, text, percent } = this.#entries.get(name) ?? {};
      if (phase === progress.phase && text === progress.text && percent === progress.percent) continue;
      this.#entries.set(name, progress);
      this.#revision += 1;
    }
  }

  clear(processName: string): void {
    if (this.#entries.delete(processName)) this.#revision += 1;
  }
}
