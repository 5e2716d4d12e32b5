// Looks at paths from child processes that can be abandoned, because a dead mount never answers. One child answers all
// questions; another starts only while the ones before it wait for a slow path, so that it does not delay other paths.
import { mountOf } from '#kit/mountinfo';
import { turnWithTime } from '#kit/turns';
import { mountsNow } from './mounts-now.ts';
import { type PathAnswer, PathShell } from './path-shell.ts';

/** How long a path that did not answer is not looked at again. */
const STALLED_MS = 60_000;
/** How long a child must have waited for an answer before the next child gets a question. */
const PATIENCE_MS = 250;
const MAX_CHILDREN = 8;

interface Question {
  readonly path: string;
  readonly kind: 'space' | 'existence';
  readonly resolve: (answer: PathAnswer | null) => void;
}

interface Lane {
  shell: PathShell | undefined;
  /** When the present question was asked; null while there is none. */
  askedMs: number | null;
}

/** A look at a path that did not answer. */
interface Stall {
  readonly sinceMs: number;
  /** The child that was abandoned. */
  readonly shell: PathShell;
  /** What was mounted at the path; null when the mount table could not be read. */
  readonly mount: string | null;
}

export class PathProbe {
  readonly #lanes: readonly Lane[] = Array.from({ length: MAX_CHILDREN }, () => ({ shell: undefined, askedMs: null }));
  readonly #questions: Question[] = [];
  readonly #stalls = new Map<string, Stall>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** All children that are alive, including abandoned ones. */
  get pids(): number[] {
    const left = [...this.#stalls.values()].map(({ shell }) => (shell.isAlive ? shell.pid : undefined));
    return [...this.#lanes.map(({ shell }) => shell?.pid), ...left].filter(pid => pid !== undefined);
  }

  /** Looks at a path, which is absolute and one line. Gives null when it does not answer. */
  look(path: string, kind: Question['kind']): Promise<PathAnswer | null> {
    return new Promise(resolve => {
      this.#questions.push({ path, kind, resolve });
      this.#next();
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { shell } of this.#lanes) shell?.abandon();
    for (const { resolve } of this.#questions.splice(0)) resolve(null);
  }

  /** Gives questions to children that have none. */
  #next(): void {
    clearTimeout(this.#timer);
    for (const lane of this.#lanes) {
      if (lane.askedMs === null) {
        const question = this.#questions.shift();
        if (question === undefined) return;
        lane.askedMs = performance.now();
        void this.#ask(lane, question);
      }
      const leftMs = lane.askedMs + PATIENCE_MS - performance.now();
      if (leftMs <= 0) continue;
      if (this.#questions.length > 0) this.#timer = setTimeout(() => this.#next(), leftMs);
      return;
    }
  }

  /** Never rejects. */
  async #ask(lane: Lane, { path, kind, resolve }: Question): Promise<void> {
    const isStalled = await this.#isStalled(path);
    // A failure here is that of a child that cannot be started, which says nothing about the path.
    resolve(isStalled ? null : await this.#answer(lane, path, kind).catch(() => null));
    lane.askedMs = null;
    this.#next();
    // The first child stays alive for further questions.
    if (lane.askedMs !== null || lane === this.#lanes[0]) return;
    lane.shell?.abandon();
    lane.shell = undefined;
  }

  async #answer(lane: Lane, path: string, kind: Question['kind']): Promise<PathAnswer | null> {
    if (lane.shell?.isAlive === false) lane.shell = undefined;
    // Starting a child holds the event loop for some milliseconds.
    if (lane.shell === undefined) await turnWithTime();
    if (this.#closed) return null;
    lane.shell ??= PathShell.start();
    const { shell } = lane;
    if (shell === undefined) return null;
    const answer = await shell.look(path, kind);
    if (typeof answer === 'object') return answer;
    lane.shell = undefined;
    shell.abandon();
    if (answer === 'late') this.#stalls.set(path, { sinceMs: performance.now(), shell, mount: await mountAt(path) });
    return null;
  }

  /**
   * Whether a look at the path would hang as an earlier one did. So at most one child is left behind for each path,
   * unless something else was mounted there since. First forgets stalls that are old and whose child has ended or
   * whose mount has changed.
   */
  async #isStalled(path: string): Promise<boolean> {
    for (const [other, { sinceMs, shell, mount }] of this.#stalls)
      if (performance.now() - sinceMs >= STALLED_MS && !(shell.isAlive && mount === (await mountAt(other))))
        this.#stalls.delete(other);
    return this.#closed || this.#stalls.has(path);
  }
}

async function mountAt(path: string): Promise<string | null> {
  const mount = mountOf(path, await mountsNow());
  return mount === undefined ? null : `${mount.id} ${mount.device}`;
}
