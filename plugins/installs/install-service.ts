// The service `installs` of other plugins, which takes names of processes.
import type { NamedBlock, Problem } from '#core';
import type {
  AvailableRelease,
  InstallCandidate,
  InstalledRelease,
  InstallProgress,
  InstallSelector,
  Installs,
  PrepareOptions,
} from './contract.ts';
import type { Installations } from './installations.ts';
import type { MissingPrograms } from './missing-programs.ts';
import type { ProgressBoard } from './progress-board.ts';
import { selectorOf, settingOf } from './selectors.ts';

export class InstallService implements Installs {
  readonly #installations: Installations;
  readonly #missing: MissingPrograms;
  readonly #board: ProgressBoard;

  constructor(installations: Installations, missing: MissingPrograms, board: ProgressBoard) {
    this.#installations = installations;
    this.#missing = missing;
    this.#board = board;
  }

  get revision(): number {
    return this.#board.revision;
  }

  isSupported(processName: string): boolean {
    return this.#installations.find(processName) !== undefined;
  }

  selector(processName: string): InstallSelector {
    return selectorOf(this.#installations.get(processName).block.block);
  }

  settingOf(selector: InstallSelector): string | undefined {
    return settingOf(selector);
  }

  installed(processName: string): Promise<InstalledRelease | null> {
    return this.#installations.installed(this.#installations.get(processName));
  }

  latest(processName: string, options: PrepareOptions = {}): Promise<AvailableRelease> {
    return this.#installations.latest(this.#installations.get(processName), options);
  }

  async prepare(processName: string, options: PrepareOptions = {}): Promise<InstallCandidate> {
    const report = (progress: InstallProgress): void => this.#board.show([processName], progress);
    try {
      return await this.#installations.prepare(this.#installations.get(processName), { ...options, report });
    } finally {
      this.#board.clear(processName);
    }
  }

  async restorePrevious(processName: string): Promise<InstalledRelease> {
    const target = this.#installations.get(processName);
    await this.#installations.restore(target);
    const installed = await this.#installations.installed(target);
    if (installed === null) throw new Error(`the release of ${processName} that was brought back is not complete`);
    return installed;
  }

  async obstacle(block: NamedBlock): Promise<Problem | undefined | null> {
    return this.#installations.obstacle(block);
  }

  installMissing(blocks: readonly NamedBlock[]): Promise<void> {
    return this.#missing.installAll(blocks);
  }

  progress(processName: string): InstallProgress | undefined {
    return this.#board.of(processName);
  }
}
