// A program that is installed in the machine itself, as packages are. Its releases are fetched while it runs and placed
// while it is stopped. When a release cannot be placed, the kept release before it is placed again.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '#core';
import { fileVersions } from '#kit/fs-out-of-process';
import type { InstallCandidate } from './contract.ts';
import type { FolderRecords } from './folder-records.ts';
import type { MachineReleases } from './machine-releases.ts';
import { checkRuntimes, fetchRelease, type PreparationOptions } from './release-preparation.ts';

const MS_PER_S = 1_000;

export interface MachineProgramOptions {
  readonly preparation: PreparationOptions;
  readonly records: FolderRecords;
  readonly releases: MachineReleases;
  /** The key of its record. */
  readonly place: string;
}

export class MachineProgram {
  readonly #options: MachineProgramOptions;

  constructor(options: MachineProgramOptions) {
    this.#options = options;
  }

  /** Throws a Problem and then leaves nothing behind. */
  async prepare(): Promise<InstallCandidate> {
    const { preparation, releases } = this.#options;
    await checkRuntimes(preparation);
    const draft = await releases.draft();
    try {
      const request = { ...preparation, user: null };
      const { version, files = {} } = await fetchRelease(request, { into: draft, downloads: draft });
      for (const [name, text] of Object.entries(files)) await writeFile(path.join(draft, path.basename(name)), text);
      return { version, swap: () => this.#put(version, draft), discard: () => releases.discard(draft) };
    } catch (error) {
      await releases.discard(draft);
      throw error;
    }
  }

  /** Places a kept release. Returns false when it is not kept or cannot be placed: it must then be fetched again. */
  async restore(version: string): Promise<boolean> {
    const { preparation, releases } = this.#options;
    const kept = await releases.find(this.#key, version);
    if (kept === null) return false;
    try {
      await this.#put(version, kept);
      return true;
    } catch (error) {
      preparation.host.log.warn(`${preparation.target.block.processName}: what is kept of ${version} is no use`, error);
      return false;
    }
  }

  /** Completes a placement that the end of an earlier host has cut off, or takes it back. Never rejects. */
  async recover(): Promise<void> {
    const { preparation, records, releases, place } = this.#options;
    const { host, target } = preparation;
    const { placing } = records.of(place);
    if (placing === null) return;
    const what = `the installation of ${placing} for ${target.block.processName} was cut off, and`;
    try {
      const kept = await releases.find(this.#key, placing);
      if (kept === null) throw new Error('what was fetched of it is gone');
      // The package manager of the earlier host may still be at work, and is waited for.
      await this.#put(placing, kept);
      host.log.info(`${what} is complete now`);
    } catch (error) {
      host.log.error(`${what} cannot be completed`, error);
    }
  }

  get #key(): string {
    return this.#options.preparation.target.block.configKey;
  }

  async #put(version: string, directory: string): Promise<void> {
    const { preparation, records, releases, place } = this.#options;
    const { host } = preparation;
    if (host.signal.aborted)
      throw new Problem(503, 'what installs programs was loaded anew; start the installation again');
    const before = { ...records.of(place), placing: null };
    const previous = before.installed === null ? before.previous : { ...before.installed, kept: null };
    // Kept and recorded first, so that a later host can complete what the end of this one cuts off.
    const kept = await releases.keep(directory, this.#key, version);
    await records.save({ ...before, placing: version });
    try {
      await this.#place(version, kept);
      await this.#checkComplete(version);
    } catch (error) {
      const old = before.installed?.version ?? null;
      const keptOld = old === null ? null : await releases.find(this.#key, old);
      if (old !== null && keptOld !== null)
        await this.#place(old, keptOld).catch(fault => host.log.warn(`${old} could not be placed again`, fault));
      await records.save(before);
      const known = [before.installed, before.previous].flatMap(release => release?.version ?? []);
      await releases.keepOnly(this.#key, known);
      throw error;
    }
    const installed = { version, installedAt: Math.floor(Date.now() / MS_PER_S) };
    await records.save({ ...before, installed, previous });
    await releases.keepOnly(this.#key, [version, previous?.version ?? version]);
  }

  async #place(version: string, directory: string): Promise<void> {
    const { source, target, signal } = this.#options.preparation;
    await source.place?.({ block: target.block, facts: target.facts, directory, version, signal });
  }

  async #checkComplete(version: string): Promise<void> {
    const { layouts } = this.#options.preparation.target;
    const found = await fileVersions(layouts.flat());
    const lacking = layouts.map(markers => markers.find(marker => !found.has(marker)));
    if (lacking.includes(undefined)) return;
    throw new Problem(
      502,
      `the release ${version} has no ${lacking[0]}, without which it cannot run; choose another release`,
    );
  }
}
