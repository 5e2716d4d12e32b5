// Finds, prepares, swaps and restores releases of programs. The installed release goes on running until another one is
// complete.
import path from 'node:path';
import { type ContributionList, type Host, type NamedBlock, Problem } from '#core';
import { orAborted } from '#kit/abort';
import { fileVersions } from '#kit/fs-out-of-process';
import { unnamedReason } from '#kit/named-reason';
import { unknownProcess } from '#kit/unknown-process';
import { WorkQueue } from '#kit/work-queue';
import type {} from '../process/contract.ts';
import type {} from '../services/contract.ts';
import type {} from '../versions/contract.ts';
import type {
  AvailableRelease,
  InstallCandidate,
  InstalledRelease,
  InstallProgress,
  InstallRuntime,
  InstallSelector,
  InstallSource,
  InstallUser,
  PrepareOptions,
} from './contract.ts';
import { FolderRecords } from './folder-records.ts';
import { type InstallTarget, installTarget, type OwnTarget } from './install-target.ts';
import { joinedPlaces, keptPlaces } from './kept-places.ts';
import { installLimits } from './limits.ts';
import { MachineProgram } from './machine-program.ts';
import { MachineReleases } from './machine-releases.ts';
import { ReleaseFolder } from './release-folder.ts';
import { checkRuntimes, latestRelease, type PreparationOptions, prepareRelease } from './release-preparation.ts';
import { selectorOf } from './selectors.ts';

const MS_PER_S = 1_000;

export interface InstallPoints {
  readonly sources: ContributionList<InstallSource>;
  readonly runtimes: ContributionList<InstallRuntime>;
}

type Report = (progress: InstallProgress) => void;

export class Installations {
  readonly #host: Host;
  readonly #points: InstallPoints;
  readonly #records: FolderRecords;
  readonly #machineReleases: MachineReleases;
  readonly #folders = new Map<string, ReleaseFolder>();
  readonly #queue = new WorkQueue({ concurrency: 1 });
  /** The last installation of each config key, after which the next one begins. */
  readonly #turns = new Map<string, Promise<unknown>>();
  /**
   * Programs in the machine whose placement the end of an earlier host has cut off, by the keys of their records. Each
   * is completed when it is asked for, because its source may be loaded later than this plugin.
   */
  readonly #cutOff = new Map<string, Promise<void> | null>();
  /** Resolves when swaps that an earlier host has begun are completed or reverted. */
  readonly #recovered: Promise<void>;

  constructor(host: Host, points: InstallPoints) {
    this.#host = host;
    this.#points = points;
    this.#records = new FolderRecords(host.paths.configDir, host.log);
    this.#machineReleases = new MachineReleases(host.paths.configDir);
    this.#recovered = this.#recover();
  }

  /** undefined for a block whose template does not say how to install it. */
  target(block: NamedBlock): InstallTarget | undefined {
    const templates = this.#host.find('service.templates');
    return templates && installTarget(block, templates, this.#blocks());
  }

  /** The target of a process; undefined when no source can install it. */
  find(processName: string): OwnTarget | undefined {
    const block = this.#blocks().find(candidate => candidate.processName === processName);
    const target = block && this.target(block);
    return target?.kind === 'own' && this.source(target) !== undefined ? target : undefined;
  }

  /** Throws a Problem when no source can install the program of the process. */
  get(processName: string): OwnTarget {
    const target = this.find(processName);
    if (target !== undefined) return target;
    if (this.#host.use('config.store').findBlock(processName) === undefined) throw unknownProcess(processName);
    throw new Problem(400, `the program of ${processName} is not installed by Stackwarden; install it by hand`);
  }

  source({ source }: OwnTarget): InstallSource | undefined {
    return [...this.#points.sources.values()].find(candidate => candidate.source === source);
  }

  /** Whether all files of a layout exist. Completes a swap or a placement that was interrupted before. */
  async isInstalled(target: InstallTarget): Promise<boolean> {
    await this.#recovered;
    if (this.#isCutOff(target)) await this.#complete(target);
    return isComplete(target, await fileVersions(target.layouts.flat()));
  }

  /** The targets that are installed, from one look at all; none when that fails, as when one mount does not answer. */
  async presentAmong(targets: readonly InstallTarget[]): Promise<ReadonlySet<InstallTarget>> {
    await this.#recovered;
    const markers = targets.flatMap(target => target.layouts.flat());
    const found = await fileVersions(markers).catch(() => new Map<string, string>());
    return new Set(targets.filter(target => !this.#isCutOff(target) && isComplete(target, found)));
  }

  /** Whether the program was installed by this plugin. */
  isOurs(target: OwnTarget): boolean {
    return this.#records.of(placeOf(target)).installed !== null;
  }

  async installed(target: OwnTarget): Promise<InstalledRelease | null> {
    if (!(await this.isInstalled(target))) return null;
    const { installed, previous, placing } = this.#records.of(placeOf(target));
    // No release counts as installed until it is known what the machine has.
    const known = placing === null ? installed : null;
    return {
      version: known?.version ?? null,
      installedAt: known?.installedAt ?? null,
      previousVersion: previous?.version ?? null,
      sharedWith: this.#blocks()
        .filter(block => block.processName !== target.block.processName && this.#isPlacedAt(block, placeOf(target)))
        .map(({ processName }) => processName),
    };
  }

  /** The published release that is selected. Throws a Problem. */
  async latest(target: OwnTarget, { selector, signal }: PrepareOptions = {}): Promise<AvailableRelease> {
    await this.#recovered;
    return latestRelease(this.#preparation(target, { selector, signal, report: () => undefined }));
  }

  /** See `Installs.obstacle`. */
  async obstacle(block: NamedBlock): Promise<Problem | undefined | null> {
    const target = this.target(block);
    if (target?.kind === 'brought') return this.obstacle(target.by);
    if (target === undefined || this.source(target) === undefined) return null;
    try {
      const preparation = this.#preparation(target, { report: () => undefined });
      await checkRuntimes(preparation);
      await latestRelease(preparation);
      return undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const reason = unnamedReason(block.processName, error.message);
      return new Problem(error.status, `${block.processName} cannot be installed: ${reason}`, { cause: error });
    }
  }

  /** Throws a Problem and then leaves nothing behind. */
  async prepare(target: OwnTarget, options: PrepareOptions & { readonly report: Report }): Promise<InstallCandidate> {
    await this.#recovered;
    const signal = this.#signal(options.signal);
    options.report({ phase: 'queued', text: 'waits for its turn', percent: null });
    return this.#inTurn(target.block.configKey, signal, async () => {
      const candidate = await this.#prepare(target, { ...options, signal });
      // The caller does not wait any more.
      if (signal.aborted) await candidate.discard();
      signal.throwIfAborted();
      return candidate;
    });
  }

  /** Throws a Problem 409 when no release before the present one is known. */
  async restore(target: OwnTarget): Promise<void> {
    await this.#recovered;
    const { previous } = this.#records.of(placeOf(target));
    if (target.directory !== null) return this.#folder(target.directory).restore();
    if (previous?.version == null)
      throw new Problem(409, `no release before the present one is known; set pinned_version to the one that is meant`);
    const selector: InstallSelector = { kind: 'pinned', version: previous.version };
    const options = { selector, report: () => undefined };
    if (await this.#machineProgram(this.#preparation(target, options)).restore(previous.version)) return;
    const candidate = await this.prepare(target, options);
    await candidate.swap();
  }

  /** Resolves when no folder is changed any more, so that the next load of the plugin can take over. */
  async end(): Promise<void> {
    await this.#recovered;
    await Promise.all([...this.#folders.values()].map(folder => folder.end()));
  }

  async #prepare(target: OwnTarget, options: PrepareOptions & { readonly report: Report }): Promise<InstallCandidate> {
    const { directory, block } = target;
    const preparation = this.#preparation(target, options);
    if (preparation.source.place !== undefined) return this.#machineProgram(preparation).prepare();
    if (directory === null)
      throw new Problem(
        400,
        `the template of ${block.processName} names no directory for its program; add install.directory`,
      );
    const folder = this.#folder(directory);
    const planned = keptPlaces(target, directory, this.#blocks());
    const { draft, version } = await prepareRelease(preparation, folder, planned);
    return {
      version,
      swap: async () => {
        // The configuration may have changed during the preparation, which can take an hour.
        const now = keptPlaces(this.find(block.processName) ?? target, directory, this.#blocks());
        const kept = joinedPlaces(planned, now);
        // A folder is only cleared when it is known to contain a release.
        const clears = kept.clears && (this.isOurs(target) || (await this.isInstalled(target)));
        const present = { version: this.#foundVersion(block.processName), installedAt: null };
        await folder.swap(draft, { version, installedAt: nowS() }, { ...kept, clears }, present);
      },
      discard: () => folder.discard(draft),
    };
  }

  #machineProgram(preparation: PreparationOptions): MachineProgram {
    const place = placeOf(preparation.target);
    return new MachineProgram({ preparation, place, records: this.#records, releases: this.#machineReleases });
  }

  #preparation(
    target: OwnTarget,
    { selector, signal, report }: PrepareOptions & { readonly report: Report },
  ): PreparationOptions {
    const source = this.source(target);
    const { processName } = target.block;
    if (source === undefined)
      throw new Problem(
        400,
        `no plugin offers the source ${target.source}, from which ${processName} is installed; load it`,
      );
    const builds = target.builds.map(({ platform, facts }) => {
      const runtime = [...this.#points.runtimes.values()].find(candidate => candidate.platform === platform);
      if (runtime === undefined)
        throw new Problem(
          400,
          `no plugin builds for ${platform}, which ${processName} needs; load one, or change platforms`,
        );
      return { runtime, facts };
    });
    return {
      host: this.#host,
      target,
      source,
      builds,
      selector: selector ?? selectorOf(target.block.block),
      installedVersion: this.#records.of(placeOf(target)).installed?.version ?? this.#foundVersion(processName),
      user: this.#userOf(target.block),
      limits: installLimits(this.#queue.size + this.#queue.pending),
      signal: this.#signal(signal),
      report,
    };
  }

  /** Runs works of a config key one after the other, and no more at once than the machine can bear. */
  #inTurn<Value>(configKey: string, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    const turn = (this.#turns.get(configKey) ?? Promise.resolve()).then(() => {
      this.#queue.concurrency = installLimits(this.#queue.size + this.#queue.pending + 1).workers;
      return this.#queue.add(async () => {
        signal.throwIfAborted();
        return work();
      });
    });
    this.#turns.set(
      configKey,
      turn.catch(() => undefined),
    );
    return orAborted(() => turn, signal);
  }

  #folder(directory: string): ReleaseFolder {
    const { log } = this.#host;
    const known = this.#folders.get(directory);
    if (known !== undefined) return known;
    const folder = new ReleaseFolder({ directory, records: this.#records, log });
    this.#folders.set(directory, folder);
    return folder;
  }

  async #recover(): Promise<void> {
    try {
      await this.#records.load();
      await this.#machineReleases.removeDrafts();
    } catch (error) {
      this.#host.log.error('what is recorded of installations cannot be read', error);
      return;
    }
    for (const { directory, placing } of this.#records.all()) if (placing !== null) this.#cutOff.set(directory, null);
    for (const { directory } of this.#records.all().filter(record => path.isAbsolute(record.directory))) {
      const folder = this.#folder(directory);
      try {
        const came = await folder.recover();
        const is = came === 'complete' ? 'complete now' : 'taken back, because what it brings is gone';
        if (came !== null) this.#host.log.info(`the installation in ${directory} was cut off, and is ${is}`);
        folder.clean();
      } catch (error) {
        this.#host.log.error(`the installation in ${directory} was cut off, and cannot be completed`, error);
      }
    }
  }

  /** Whether a swap of the target has begun and not ended, or an earlier host has left it half placed. */
  #isCutOff(target: InstallTarget): target is OwnTarget {
    if (target.kind !== 'own') return false;
    const isHalfPlaced = this.#cutOff.has(placeOf(target)) && this.source(target) !== undefined;
    return isHalfPlaced || this.#records.of(placeOf(target)).swap !== null;
  }

  async #complete(target: OwnTarget): Promise<void> {
    const place = placeOf(target);
    if (target.directory !== null) {
      await this.#folder(target.directory).recover();
      return;
    }
    const options = { report: () => undefined };
    const completion = this.#cutOff.get(place) ?? this.#machineProgram(this.#preparation(target, options)).recover();
    this.#cutOff.set(place, completion);
    await completion;
    this.#cutOff.delete(place);
  }

  #isPlacedAt(block: NamedBlock, place: string): boolean {
    const target = this.target(block);
    if (target?.kind !== 'brought') return target !== undefined && placeOf(target) === place;
    return this.#isPlacedAt(target.by, place);
  }

  #foundVersion(processName: string): string | null {
    return this.#host.find('service.versions')?.of(processName) ?? null;
  }

  /** The user that the service runs as. */
  #userOf(block: NamedBlock): InstallUser {
    return this.#host.use('process.supervisor').plan(block).user;
  }

  #signal(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#host.signal : AbortSignal.any([this.#host.signal, signal]);
  }

  #blocks(): readonly NamedBlock[] {
    return this.#host.use('config.store').blocks();
  }
}

/** `found` are the paths that exist. */
function isComplete({ layouts }: InstallTarget, found: ReadonlyMap<string, unknown>): boolean {
  return layouts.some(markers => markers.every(marker => found.has(marker)));
}

/** The key of its record: its folder, or `machine:<config key>` for a program in the machine itself. */
function placeOf({ directory, block }: OwnTarget): string {
  return directory ?? `machine:${block.configKey}`;
}

function nowS(): number {
  return Math.floor(Date.now() / MS_PER_S);
}
