// Installs programs that are missing when their services start, and tries again later after a boot that could not fetch
// them. A program that the machine has already is used as it is.
import { isDeepStrictEqual } from 'node:util';
import { type Host, type NamedBlock, Problem } from '#core';
import { errorText } from '#kit/error-text';
import { unnamedReason } from '#kit/named-reason';
import type { LaunchPlan, StartTrigger } from '../process/contract.ts';
import type {} from '../setup/contract.ts';
import { InstallJobs, type InstallRun } from './install-jobs.ts';
import type { InstallTarget, OwnTarget } from './install-target.ts';
import type { Installations } from './installations.ts';
import type { ProgressBoard } from './progress-board.ts';
import { Retries } from './retries.ts';
import { selectorOf, selectorText } from './selectors.ts';

/** Enough for the build of a large program on a small machine. */
const LIMIT_MS = 7_200_000;
const FIRST_RETRY_MS = 30_000;
const MAX_RETRY_MS = 1_800_000;
/** The triggers of starts for which no client waits, so that their installations are retried. */
const RETRIED: readonly StartTrigger[] = ['boot', 'config'];
/** Statuses of failures of another system or of the network. */
const REMOTE = [502, 503, 504];
const MS_PER_S = 1_000;

type Triggered = Pick<LaunchPlan, 'trigger' | 'signal' | 'showWait'>;

export class MissingPrograms {
  readonly #host: Host;
  readonly #installations: Installations;
  readonly #board: ProgressBoard;
  readonly #jobs = new InstallJobs();
  readonly #retries: Retries;
  /** Why the installation at a boot failed, until the start of the process reports it. */
  readonly #failed = new Map<string, Problem>();
  /** Processes whose programs a boot has found installed, until they start. */
  readonly #present = new Set<string>();

  constructor(host: Host, installations: Installations, board: ProgressBoard) {
    this.#host = host;
    this.#installations = installations;
    this.#board = board;
    const times = { firstMs: host.paced(FIRST_RETRY_MS), maxMs: host.paced(MAX_RETRY_MS) };
    this.#retries = new Retries(processName => this.#again(processName), times);
  }

  /** Called before a start. Throws a Problem when the program cannot be installed, or the reason of the signal. */
  async ensure(block: NamedBlock, { trigger, signal, showWait }: Triggered): Promise<void> {
    const { processName } = block;
    const failed = this.#failed.get(processName);
    this.#failed.delete(processName);
    if (trigger === 'boot' && this.#present.delete(processName)) return;
    if (RETRIED.includes(trigger) && failed !== undefined) throw this.#planned(processName, failed);
    const target = await this.#lacking(block);
    if (target === undefined) return;
    this.#retries.forget(processName);
    showWait('the installation of its program');
    try {
      await this.#install(target, processName, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof Problem) || !RETRIED.includes(trigger)) throw error;
      throw this.#planned(processName, error);
    } finally {
      showWait(null);
    }
  }

  /** Called at a boot with all blocks that it will start. Never rejects. */
  async installAll(blocks: readonly NamedBlock[]): Promise<void> {
    const targets = blocks.flatMap(block => this.#installations.target(block) ?? []);
    const present = await this.#installations.presentAmong(targets);
    for (const { block } of present) this.#present.add(block.processName);
    await Promise.all(targets.map(target => (present.has(target) ? undefined : this.#installEarly(target.block))));
  }

  /** Gives up the installation and the retries for a process that a user has stopped. */
  forget(processName: string): void {
    this.#failed.delete(processName);
    this.#retries.forget(processName);
    this.#board.clear(processName);
    this.#jobs.leave(processName);
  }

  end(): void {
    this.#retries.end();
  }

  async #installEarly(block: NamedBlock): Promise<void> {
    const { processName } = block;
    try {
      const target = await this.#lacking(block);
      if (target !== undefined) await this.#install(target, processName, this.#host.signal);
    } catch (error) {
      if (error instanceof Problem) this.#tellFailure(processName, error);
      else this.#host.log.debug(`${processName} was not installed before its start`, error);
    }
  }

  #tellFailure(processName: string, problem: Problem): void {
    this.#failed.set(processName, problem);
    this.#host.emit('service.preinstall.failed', { processName, reason: problem.message });
  }

  /** The target to install before the process starts; undefined when it can start, or no source can install it. */
  async #lacking(block: NamedBlock): Promise<OwnTarget | undefined> {
    const target = this.#installations.target(block);
    if (target === undefined || (await this.#installations.isInstalled(target))) return undefined;
    const own = await this.#ownOf(target);
    if (own === undefined || this.#installations.source(own) === undefined) return undefined;
    if (this.#installations.isOurs(own) && !this.#hasOwnCommand(block)) return own;
    const missing = await this.#host.find('service.setup')?.missing(block);
    return missing === undefined ? undefined : own;
  }

  /** Whether the user has replaced the command of the template: it may run without the files of the program. */
  #hasOwnCommand({ configKey, key, block: { command } }: NamedBlock): boolean {
    const templates = this.#host.use('service.templates');
    const template = templates.get(configKey);
    const isBlank = command === undefined || [command].flat().join('') === '';
    return template !== undefined && !isBlank && !isDeepStrictEqual(command, templates.block(template, key).command);
  }

  async #ownOf(target: InstallTarget): Promise<OwnTarget | undefined> {
    if (target.kind === 'own') return target;
    const by = this.#installations.target(target.by);
    // An installed release that does not contain the program will not contain it when it is installed again.
    return by?.kind === 'own' && !(await this.#installations.isInstalled(by)) ? by : undefined;
  }

  #install(target: OwnTarget, processName: string, signal: AbortSignal): Promise<void> {
    const key = target.directory ?? target.block.configKey;
    return this.#jobs
      .join(key, processName, signal, run => this.#run(target, run))
      .catch((error: unknown) => {
        this.#board.clear(processName);
        signal.throwIfAborted();
        // The cause of the Problem, not the Problem: its sentence is in the new one, and would be logged twice.
        const [status, cause] = error instanceof Problem ? [error.status, error.cause] : [500, error];
        const reason = unnamedReason(processName, errorText(error));
        throw new Problem(status, `${processName} cannot be installed: ${reason}`, { cause });
      });
  }

  async #run(target: OwnTarget, { signal, processNames }: InstallRun): Promise<void> {
    const { processName, block } = target.block;
    const { log } = this.#host;
    const started = performance.now();
    const selector = selectorOf(block);
    log.info(`${processName}: ${selectorText(selector)} is being installed`);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
    const report = this.#board.show.bind(this.#board, processNames);
    try {
      const candidate = await this.#installations.prepare(target, { selector, signal: limit, report });
      if (limit.aborted) await candidate.discard();
      limit.throwIfAborted();
      report({ phase: 'swapping', text: `puts ${candidate.version} in place`, percent: null });
      await candidate.swap();
      const seconds = Math.round((performance.now() - started) / MS_PER_S);
      log.info(`${processName}: ${candidate.version} is installed, after ${seconds} s`);
      // The host has already counted and logged a failure, and the program is installed all the same.
      await this.#host
        .find('service.versions')
        ?.refresh(processName)
        .catch(() => null);
    } finally {
      for (const name of processNames) this.#board.clear(name);
    }
  }

  /** Plans a retry after a failure of another system or the network. Returns a Problem that mentions the retry. */
  #planned(processName: string, problem: Problem): Problem {
    if (!REMOTE.includes(problem.status)) return problem;
    const pauseMs = this.#retries.plan(processName);
    const again = `${problem.message} (tried again by itself in ${Math.ceil(pauseMs / MS_PER_S)} s)`;
    this.#board.show([processName], { phase: 'waiting', text: again, percent: null });
    return new Problem(problem.status, again, { cause: problem });
  }

  async #again(processName: string): Promise<void> {
    this.#board.clear(processName);
    const supervisor = this.#host.find('process.supervisor');
    const { status, enabled, stoppedByUser } = supervisor?.get(processName) ?? {};
    const block = supervisor?.blocks().find(candidate => candidate.processName === processName);
    if (supervisor === undefined || block === undefined || status !== 'stopped' || !enabled || stoppedByUser) {
      this.#retries.forget(processName);
      return;
    }
    try {
      const target = await this.#lacking(block);
      if (target !== undefined) await this.#install(target, processName, this.#host.signal);
    } catch (error) {
      if (this.#host.signal.aborted) return;
      const { message } = error instanceof Problem ? this.#planned(processName, error) : { message: errorText(error) };
      this.#host.log.warn(message, error);
      return;
    }
    this.#retries.forget(processName);
    // A start that fails is reported by the supervisor.
    await supervisor.start(processName, 'install').catch(() => undefined);
  }
}
