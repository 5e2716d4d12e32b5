// Looks at paths from children that can be abandoned, because a dead mount never answers. One child answers everybody;
// others begin only beside those that wait for such a mount, so that it does not delay what lies elsewhere.
import { mountOf } from '#kit/mountinfo';
import { turnWithTime } from '#kit/turns';
import { mountsNow } from './mounts-now.ts';
import { type PathAnswer, PathShell } from './path-shell.ts';

/** A path that did not answer is not asked for again before this time has passed. */
const STALLED_MS = 60_000;
/** So long the children before it wait until the next one begins. */
const PATIENCE_MS = 250;
const MAX_CHILDREN = 8;

interface Question {
  readonly path: string;
  readonly kind: 'space' | 'existence';
  readonly resolve: (answer: PathAnswer | null) => void;
}

interface Lane {
  shell: PathShell | undefined;
  /** When its present question was asked; null while it has none. */
  askedMs: number | null;
}

/** A path that did not answer. */
interface Stall {
  readonly sinceMs: number;
  /** The child that was abandoned. */
  readonly shell: PathShell;
  /** What was mounted there; null where that could not be read. */
  readonly mount: string | null;
}

export class PathProbe {
  readonly #lanes: readonly Lane[] = Array.from({ length: MAX_CHILDREN }, () => ({ shell: undefined, askedMs: null }));
  readonly #questions: Question[] = [];
  readonly #stalls = new Map<string, Stall>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** The children, for whoever lists processes. */
  get pids(): number[] {
    const left = [...this.#stalls.values()].map(({ shell }) => (shell.isAlive ? shell.pid : undefined));
    return [...this.#lanes.map(({ shell }) => shell?.pid), ...left].filter(pid => pid !== undefined);
  }

  /** null when the path does not answer. The path is absolute and one line. */
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
    // A child that cannot be started at all says nothing of the path.
    resolve(isStalled ? null : await this.#answer(lane, path, kind).catch(() => null));
    lane.askedMs = null;
    this.#next();
    // The first one goes on waiting for questions.
    if (lane.askedMs !== null || lane === this.#lanes[0]) return;
    lane.shell?.abandon();
    lane.shell = undefined;
  }

  async #answer(lane: Lane, path: string, kind: Question['kind']): Promise<PathAnswer | null> {
    if (lane.shell?.isAlive === false) lane.shell = undefined;
    // To start a child holds the event loop for some milliseconds.
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
   * A second child would hang as the first one does: one is left behind for each path, unless something else was
   * mounted there since. What has answered, or may be asked again, is forgotten.
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
