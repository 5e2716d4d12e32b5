// Looks at the files of services in programs of their own, which are abandoned when they do not answer. A program that
// has answered is used again for a while, because a start costs more than a look.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { hasPipes } from '#kit/descriptors';
import { helperEnvironment } from '#kit/helper-environment';
import { mountOf, readMounts } from '#kit/mountinfo';
import { moduleArguments } from '#kit/worker';
import type { DatabaseFacts } from './contract.ts';
import type { LogToLook } from './log-search.ts';
import type { LogLook } from './log-signals.ts';
import type { LookRequest, LookResult, LookRights, StoreToLook } from './look-worker.ts';

/** How long a look may take; what was found until then counts. */
const LIMIT_MS = 8_000;
/** How long the start of a program may take, which only a busy machine delays. */
const START_LIMIT_MS = 30_000;
const IDLE_MS = 10_000;
const MEMORY_MB = 96;
const LATE = `It did not answer within ${LIMIT_MS / 1_000} s; its file system may hang`;
const BROKEN = 'The look at it failed';

interface Looked {
  readonly results: readonly LookResult[];
  /** Why results are missing, if some are. */
  readonly failure: string;
}

export type FileUser = LookRights['user'];

export class FileLook {
  /**
   * Abandoned programs that may still hang, by the name of what they looked at; `mount` names the mounts of its files.
   */
  readonly #hanging = new Map<string, { readonly program: LookProgram; readonly mount: string }>();
  readonly #programs = new Set<LookProgram>();

  async log(processName: string, log: LogToLook): Promise<LogLook> {
    const rights = { user: null, opensSqlite: false };
    const { results, failure } = await this.#look(`log of ${processName}`, rights, { log });
    for (const result of results) if ('log' in result) return result.log;
    return { path: log.file, error: failure };
  }

  /**
   * The databases of each store, read with the rights of `user`. `what` is the name under which hanging ones are kept.
   */
  async stores(what: string, stores: readonly StoreToLook[], user: FileUser): Promise<DatabaseFacts[]> {
    const rights = { user, opensSqlite: stores.some(({ kind }) => kind === 'sqlite') };
    const { results, failure } = await this.#look(what, rights, { stores });
    return stores.flatMap(({ role, files, below }, index) => {
      const [path = below ?? ''] = files;
      const last = results.findLast(result => 'store' in result && result.store === index);
      if (last === undefined || !('store' in last)) return [{ role, path, exists: null, error: failure }];
      if (last.isComplete) return last.facts;
      return last.facts.map(facts => (facts.exists === true ? { ...facts, probeError: failure } : facts));
    });
  }

  close(): void {
    for (const program of this.#programs) program.abandon();
  }

  /**
   * All results that were reported in time. No program is asked while an earlier one still hangs on the same files,
   * unless the mounts have changed since.
   */
  async #look(what: string, rights: LookRights, request: LookRequest): Promise<Looked> {
    const mount = await mountsOf(request);
    const hanging = this.#hanging.get(what);
    if (hanging?.program.isAlive === true && hanging.mount === mount) return { results: [], failure: LATE };
    this.#hanging.delete(what);
    const key = JSON.stringify(rights);
    const idle = [...this.#programs].find(program => program.rights === key && program.isIdle);
    const program = idle ?? new LookProgram(key, () => this.#programs.delete(program));
    this.#programs.add(program);
    const { results, end } = await program.ask(request);
    if (end === 'late') {
      program.abandon();
      for (const [other, { program: left }] of this.#hanging) if (!left.isAlive) this.#hanging.delete(other);
      this.#hanging.set(what, { program, mount });
    }
    return { results, failure: end === 'late' ? LATE : BROKEN };
  }
}

/** A text that names the mounts on which the files lie. */
async function mountsOf(request: LookRequest): Promise<string> {
  const stores = 'log' in request ? [] : request.stores;
  const places = 'log' in request ? [request.log.file] : stores.flatMap(({ files, below }) => below ?? files);
  const mounts = await readMounts();
  return [...new Set(places.map(place => mountOf(place, mounts)))].map(mount => `${mount?.id} ${mount?.device}`).join();
}

/** One program, which answers one request at a time. */
class LookProgram {
  readonly rights: string;
  /** One that could not be made, because no descriptors were left, has no pipes. */
  readonly #child: ChildProcess;
  #receive: ((result: LookResult | 'gone') => void) | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isReady = false;
  #isOver = false;

  constructor(rights: string, ended: () => void) {
    this.rights = rights;
    const child: ChildProcess = spawn(
      process.execPath,
      [`--max-old-space-size=${MEMORY_MB}`, ...moduleArguments('look-worker', import.meta.url), rights],
      { cwd: '/', env: helperEnvironment(), stdio: ['pipe', 'pipe', 'ignore'] },
    );
    this.#child = child;
    const gone = (): void => {
      this.#isOver = true;
      ended();
      this.#receive?.('gone');
    };
    child.once('error', gone).once('close', gone);
    if (!hasPipes(child)) return;
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stdout }).on('line', line => this.#take(line));
  }

  get isIdle(): boolean {
    return !this.#isOver && this.#receive === undefined;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async ask(request: LookRequest): Promise<{ results: readonly LookResult[]; end: 'answered' | 'late' | 'gone' }> {
    clearTimeout(this.#idle);
    const results: LookResult[] = [];
    let timer: NodeJS.Timeout | undefined;
    const end = await new Promise<'answered' | 'late' | 'gone'>(resolve => {
      const limit = (ms: number): void => {
        clearTimeout(timer);
        timer = setTimeout(() => resolve('late'), ms);
      };
      limit(this.#isReady ? LIMIT_MS : START_LIMIT_MS);
      this.#receive = result => {
        if (result === 'gone') resolve('gone');
        else if ('isReady' in result) limit(LIMIT_MS);
        else if ('isOver' in result) resolve('answered');
        else results.push(result);
      };
      this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    });
    clearTimeout(timer);
    this.#receive = undefined;
    this.#isReady = true;
    this.#idle = setTimeout(() => this.abandon(), IDLE_MS).unref();
    return { results, end };
  }

  /** Kills the program. One that hangs in the kernel ends only when its mount answers or is removed. */
  abandon(): void {
    clearTimeout(this.#idle);
    this.#isOver = true;
    this.#child.kill('SIGKILL');
    for (const stream of [this.#child.stdin, this.#child.stdout]) stream?.destroy();
    this.#child.unref();
  }

  /** A line that is no result can only come from a program that a malicious database has taken over. */
  #take(line: string): void {
    try {
      this.#receive?.(JSON.parse(line) as LookResult);
    } catch {
      this.abandon();
    }
  }
}
