// The versions of all services. Rounds in the background find out which may have changed and look only those up; a
// request for a version gets what the last round found.
import { randomUUID } from 'node:crypto';
import type { ContributionList, Host, NamedBlock } from '#core';
import { contributedValues } from '#kit/contributed-values';
import { fileVersion, fileVersions } from '#kit/fs-out-of-process';
import { WorkQueue } from '#kit/work-queue';
import type { LaunchPlaceholders } from '../process/contract.ts';
import type {} from '../services/contract.ts';
import { AssemblyVersion } from './assembly.ts';
import { type ChildUser, type Reading, readChild } from './child-output.ts';
import type { ServiceVersions } from './contract.ts';
import { assigned, firstLine, memberOf, numberedWord, versionIn } from './found.ts';
import { fileOf, targetOf, type VersionSource, type VersionTarget } from './sources.ts';

interface Known {
  readonly version: string | null;
  /** The state of the sources in which the version was found. */
  readonly stamp: string;
  /** When it is looked up again even if nothing has changed, after a failure; on the clock of `performance.now()`. */
  readonly againMs: number;
}

/** By file; null for a missing file. A file whose mount does not answer is absent. */
type FileVersions = ReadonlyMap<string, string | null>;

const AT_ONCE = 2;
const SOON_MS = 1_000;
const FILES_AT_ONCE = 100;
const FILE_LIMIT_MS = 1_000;
const MAX_TEXT_BYTES = 64 * 1024;
const ANSWER_LIMIT_MS = 3_000;
/** The pause after a failure, because a program that has hung would hang again. */
const AGAIN_MS = 600_000;

export class Versions implements ServiceVersions {
  readonly #host: Host;
  readonly #placeholders: ContributionList<LaunchPlaceholders>;
  readonly #known = new Map<string, Known>();
  readonly #queue = new WorkQueue({ concurrency: AT_ONCE });
  #revision = 0;
  #soon: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(host: Host) {
    this.#host = host;
    this.#placeholders = host.contributions('process.placeholders');
  }

  get revision(): number {
    return this.#revision;
  }

  of(processName: string): string | null {
    return this.#known.get(processName)?.version ?? null;
  }

  async refresh(processName: string): Promise<string | null> {
    const block = this.#blocks().find(candidate => candidate.processName === processName);
    const target = block && this.#targetOf(block);
    if (block !== undefined && target !== undefined) await this.#look(block, target, await versionsOf(target.files));
    return this.of(processName);
  }

  /** Begins a round in a moment, or after a boot in progress; one round for all calls until then. */
  soon(): void {
    if (this.#soon !== undefined || this.#host.signal.aborted) return;
    this.#soon = setTimeout(() => {
      this.#soon = undefined;
      // Looking up versions runs programs, which would slow the starts of the services down.
      if (this.#host.find('process.supervisor')?.startup().phase === 'starting_services') this.soon();
      else void this.round();
    }, this.#host.paced(SOON_MS)).unref();
  }

  /** Looks up the versions that may have changed. Rounds run one after the other. */
  round(): Promise<void> {
    this.#round = this.#round
      .then(() => this.#lookAll())
      .catch((error: unknown) => this.#host.log.warn('the versions of services could not be looked up', error));
    return this.#round;
  }

  end(): void {
    clearTimeout(this.#soon);
    // The queue is not cleared, because the promises of dropped work would never settle. Work that begins now does
    // nothing.
  }

  async #lookAll(): Promise<void> {
    const blocks = this.#blocks();
    const targets = blocks.flatMap(block => {
      const target = this.#targetOf(block);
      return target === undefined ? [] : [{ block, target }];
    });
    const present = new Set(targets.map(({ target }) => target.processName));
    for (const name of this.#known.keys()) if (!present.has(name)) this.#known.delete(name);
    const files = await versionsOf(targets.flatMap(({ target }) => target.files));
    const looks = targets.flatMap(({ block, target }) => {
      const known = this.#known.get(target.processName);
      const isCurrent = known?.stamp === this.#stampOf(target, files) && performance.now() < known.againMs;
      return isCurrent ? [] : [this.#look(block, target, files)];
    });
    await Promise.all(looks);
  }

  #look(block: NamedBlock, target: VersionTarget, files: FileVersions): Promise<void> {
    const stamp = this.#stampOf(target, files);
    return this.#queue.add(async () => {
      if (this.#host.signal.aborted) return;
      const { processName } = target;
      const before = this.of(processName);
      try {
        const version = await this.#find(block, target, files);
        this.#known.set(processName, { version, stamp, againMs: Number.POSITIVE_INFINITY });
      } catch (error) {
        this.#host.log.debug(`${processName}: its version could not be looked up, and stays ${before}`, error);
        // An application that does not answer may still be starting, so it is asked again in the next round.
        const waitMs = target.sources.at(-1)?.kind === 'answer' ? 0 : AGAIN_MS;
        this.#known.set(processName, { version: before, stamp, againMs: performance.now() + waitMs });
      }
      if (this.of(processName) !== before) this.#revision += 1;
    });
  }

  /** The version in the first source that tells one. */
  async #find(block: NamedBlock, { sources, hasPrefix }: VersionTarget, files: FileVersions): Promise<string | null> {
    for (const source of sources) {
      // Starting a child for every missing file would block the event loop for a tenth of a second after a start.
      if (files.get(fileOf(source)) === null) continue;
      const version = versionIn(await this.#ask(source, block), hasPrefix);
      if (version !== null) return version;
    }
    return null;
  }

  async #ask(source: VersionSource, named: NamedBlock): Promise<unknown> {
    const { block, processName } = named;
    const reading = { user: this.#userOf(named), signal: this.#host.signal };
    if (source.kind === 'assembly') {
      const assembly = new AssemblyVersion();
      await readChild(['cat', '--', source.file], reading, part => assembly.take(part));
      assembly.end();
      return assembly.found;
    }
    if (source.kind === 'file') {
      const text = await textOf(['head', '-c', String(MAX_TEXT_BYTES), '--', source.file], reading);
      if (source.member !== undefined) return memberOf(text, source.member);
      return source.assignments === undefined ? firstLine(text) : assigned(text, source.assignments);
    }
    // Commands of a disabled service are not run, and the service is not asked.
    if (block.enabled !== true) return undefined;
    if (source.kind === 'command')
      return numberedWord(await textOf(source.command, { ...reading, work: `version ${randomUUID()}` }));
    if (this.#host.find('process.supervisor')?.get(processName)?.status !== 'running') return undefined;
    const options = { timeoutMs: ANSWER_LIMIT_MS, maxBytes: MAX_TEXT_BYTES, redirects: 0 };
    return memberOf((await this.#host.fetch(source.url, options)).text, source.member);
  }

  #targetOf(block: NamedBlock): VersionTarget | undefined {
    if (block.isHost) return undefined;
    const template = this.#host.find('service.templates')?.get(block.configKey);
    const given = () => contributedValues(this.#placeholders, block);
    return targetOf(block, template, given);
  }

  #blocks(): readonly NamedBlock[] {
    return this.#host.find('process.supervisor')?.blocks() ?? this.#host.use('config.store').blocks();
  }

  #stampOf({ processName, sources, files }: VersionTarget, versions: FileVersions): string {
    const depends = sources.some(({ kind }) => kind === 'command' || kind === 'answer');
    const run = depends ? this.#runOf(processName) : null;
    return JSON.stringify([sources, files.map(file => versions.get(file) ?? null), run]);
  }

  /** The start of the present run: a new run may have another version even if no known file has changed. */
  #runOf(processName: string): number | null {
    return this.#host.find('process.supervisor')?.get(processName)?.startedMonotonicMs ?? null;
  }

  /** The user that the service runs as. */
  #userOf(block: NamedBlock): ChildUser {
    const { puid, pgid } = this.#host.use('config.store').root();
    const usual = process.getuid?.() === 0 ? { uid: Number(puid), gid: Number(pgid) } : null;
    return this.#host.find('process.supervisor')?.userOf(block) ?? usual;
  }
}

/** The output of a command, cut at 64 KiB; empty for a file that is missing or that the user cannot read. */
async function textOf(command: readonly string[], reading: Reading): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  await readChild(command, reading, part => {
    parts.push(part);
    bytes += part.length;
    return bytes >= MAX_TEXT_BYTES;
  });
  return Buffer.concat(parts).toString('utf8');
}

/**
 * Reads many files in one child. When a mount does not answer, each file gets its own, so that only some are unknown.
 */
async function versionsOf(files: readonly string[]): Promise<FileVersions> {
  const all = [...new Set(files)];
  const found = new Map<string, string | null>();
  for (let at = 0; at < all.length; at += FILES_AT_ONCE) {
    const some = all.slice(at, at + FILES_AT_ONCE);
    try {
      const versions = await fileVersions(some);
      for (const file of some) found.set(file, versions.get(file) ?? null);
    } catch {
      for (const file of some) {
        const version = await fileVersion(file, FILE_LIMIT_MS).catch(() => undefined);
        if (version !== undefined) found.set(file, version);
      }
    }
  }
  return found;
}
