// The environment in which downloaded code is built. The code is not trusted: it runs as the services' user, in process
// groups that end with their commands, with a new home each time, and with public variables alone.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { NamedBlock } from '../contract/config.ts';
import { Problem } from '../contract/problem.ts';
import { errorText } from './error-text.ts';
import { runInGroup } from './group-command.ts';
import { GuardedDirectory } from './guarded-directory.ts';
import { allPids, isMarked } from './left-over.ts';
import { publicEnvironment } from './public-environment.ts';

export type BuildUser = { readonly uid: number; readonly gid: number } | null;

export interface BuildPlace {
  /** The block of the service. Its `env_passthrough` names further variables, which may hold a password. */
  readonly block: NamedBlock;
  /** The folder of the release, in which commands run. */
  readonly directory: string;
  /** The directory of what package managers keep for later builds; it belongs to the user. */
  readonly caches: string;
  readonly user: BuildUser;
  readonly signal: AbortSignal;
  /** Takes the lines that the commands print; no more is read before it resolves. */
  output(lines: readonly string[]): Promise<void>;
}

export interface BuildCommand {
  readonly argv: readonly string[];
  /** Relative to the folder of the release. */
  readonly in?: string | undefined;
  /** Variables in addition to those that every command gets. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Variables that builds get: how the machine reaches the network, what it trusts, and where its package registries are.
 */
const KEPT =
  /^(?:PATH|LANG|LC_[A-Z]+|TZ|(?:https?|all|no)_proxy|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|(?:REQUESTS|CURL)_CA_BUNDLE|npm_config_registry|YARN_NPM_REGISTRY_SERVER|PIP_(?:EXTRA_)?INDEX_URL|GO(?:PROXY|SUMDB)|JSR_URL)$/i;
/** Builds give way to running services. */
const NICENESS = 10;
/** Long, because a small machine compiles slowly. */
const LIMIT_MS = 3_600_000;
const REMOVAL_LIMIT_MS = 120_000;
const MARK = 'STACKWARDEN_BUILD';
/** The most passes over all processes: one that a pass finds may have started another meanwhile. */
const MAX_LOOKS = 10;

export class BuildEnvironment {
  /** Belongs to the user, and is removed at the end. */
  readonly home: string;
  readonly #place: BuildPlace;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(place: BuildPlace, home: string) {
    this.#place = place;
    this.home = home;
    this.#env = {
      ...buildVariables((place.block.block.env_passthrough ?? []) as string[]),
      HOME: home,
      XDG_CACHE_HOME: place.caches,
      CI: 'true',
      [MARK]: place.directory,
    };
  }

  /**
   * Calls `use` with an environment. Afterwards, processes that are left of the commands are killed and the home is
   * removed. Throws a Problem 500 with the last output of a command that failed.
   */
  static async with(place: BuildPlace, use: (environment: BuildEnvironment) => Promise<void>): Promise<void> {
    const home = path.join(place.caches, `home-${randomBytes(6).toString('hex')}`);
    (await GuardedDirectory.open(home, { mode: 0o700, owner: place.user })).close();
    const environment = new BuildEnvironment(place, home);
    try {
      await use(environment);
    } catch (error) {
      place.signal.throwIfAborted();
      if (error instanceof Problem) throw error;
      const { processName } = place.block;
      const remedy = `see the log of ${processName}, and install it again when the cause is mended`;
      throw new Problem(500, `${processName} cannot be built: ${errorText(error)}; ${remedy}`, { cause: error });
    } finally {
      try {
        endBuild(place.directory);
      } finally {
        await environment.#removeHome();
      }
    }
  }

  get path(): string {
    return this.#env.PATH ?? '';
  }

  /** The directory in which a tool keeps what later builds use. */
  cache(name: string): string {
    return path.join(this.#place.caches, name);
  }

  /** Throws an Error with the last output of a command that fails. */
  async run({ argv, in: folder = '.', env }: BuildCommand): Promise<void> {
    const { directory, user, signal } = this.#place;
    const onLines = (lines: readonly string[]): Promise<void> => this.#place.output(lines);
    await onLines([`$ ${argv.join(' ')}`]);
    await runInGroup({
      argv,
      cwd: path.join(directory, folder),
      env: { ...this.#env, ...env },
      user,
      limitMs: LIMIT_MS,
      niceness: NICENESS,
      signal,
      onLines,
    });
  }

  /** Runs as the services' user, because programs of that user could lead any other user elsewhere by a link. */
  async #removeHome(): Promise<void> {
    const argv = ['rm', '-rf', '--', this.home];
    const { user } = this.#place;
    const { signal } = new AbortController();
    await runInGroup({ argv, env: this.#env, user, limitMs: REMOVAL_LIMIT_MS, signal });
  }
}

/** Those variables of the host that builds get: none with a password, unless it is asked for by name. */
export function buildVariables(passthrough: readonly string[] = []): Record<string, string> {
  const own = publicEnvironment(process.env);
  for (const name of passthrough) {
    const value = process.env[name];
    if (value !== undefined) own[name] = value;
  }
  return Object.fromEntries(Object.entries(own).filter(([name]) => KEPT.test(name)));
}

/**
 * Kills what is left of a build in this folder, whatever group it is in. Throws the system's error when no descriptor
 * is left to look for it.
 */
export function endBuild(directory: string): void {
  const mark = Buffer.from(`${MARK}=${directory}`).toString('latin1');
  for (let look = 0; look < MAX_LOOKS && endMarked(mark); look += 1);
}

/** Kills every process with the mark; whether there was one. */
function endMarked(mark: string): boolean {
  let isFound = false;
  for (const pid of allPids()) {
    if (!isMarked(pid, mark)) continue;
    try {
      process.kill(pid, 'SIGKILL');
      isFound = true;
    } catch {
      // The process has ended meanwhile.
    }
  }
  return isFound;
}
