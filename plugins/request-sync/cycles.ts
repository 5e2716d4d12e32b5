// The cycles of replication: each reads the primary and brings the subordinates in line. Nothing is changed on a
// subordinate while the state cannot be saved.
import { WorkQueue } from '#kit/work-queue';
import { holdsWarning, primaryIds } from './deletions.ts';
import { adoptLabels, type Labelled } from './labels.ts';
import { Primary, type PrimarySettings } from './primary.ts';
import { RemoteError } from './remote-error.ts';
import type { RequestManager } from './request-manager.ts';
import { forEachInSlices } from './slices.ts';
import { failureKey, partsOfKey, type State, timestamp } from './state.ts';
import { type Outcome, Subordinate, type SubordinateSettings } from './subordinate.ts';

const PARALLEL = 4;

export interface Peer extends Labelled {
  readonly manager: RequestManager;
}

export interface CycleParts {
  readonly state: State;
  readonly settings: SubordinateSettings & PrimarySettings;
  readonly primary: Peer;
  readonly subordinates: readonly Peer[];
  /** The labels of all configured subordinates, including those that are not ready. */
  readonly labels: readonly string[];
  /** Saves the state. Rejects when it cannot be saved. */
  readonly save: () => Promise<void>;
  /** Saves the state at the end of a cycle; the time of the cycle alone need not be saved at once. */
  readonly saveCycle: () => Promise<void>;
  /** Called after each change of the state. Saves it if the last save is long ago, and then rejects as `save` does. */
  readonly changed: () => Promise<void>;
  readonly nowMs: () => number;
  /** See `SubordinateParts`. */
  readonly turnMs?: number;
}

export interface CycleReport {
  /** What is wrong with the primary; null when nothing is. */
  readonly error: string | null;
  readonly warnings: readonly string[];
  /** Whether a subordinate needs another cycle at once. */
  readonly hasMore: boolean;
}

/** Cycles with the same settings and peers. Other ones need a new object, which begins by reading the whole list. */
export class Cycles {
  readonly #with: CycleParts;
  readonly #primary: Primary;
  readonly #subordinates: readonly Subordinate[];

  constructor(parts: CycleParts) {
    const { primary, subordinates } = parts;
    this.#with = parts;
    this.#primary = new Primary({ ...parts, ...primary });
    const group = (fingerprint: string) => this.#primary.group(fingerprint);
    this.#subordinates = subordinates.map(peer => new Subordinate({ ...parts, ...peer, group }));
  }

  /** Runs one cycle. Rejects when the state cannot be saved. */
  async run(): Promise<CycleReport> {
    const { state, primary, subordinates, save, saveCycle } = this.#with;
    await adoptLabels(state, subordinates);
    this.#correctTimes();
    let fault: RemoteError | null;
    try {
      await primary.manager.check();
      fault = await this.#primary.read();
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      return { error: this.#problemOf(error), warnings: [], hasMore: false };
    }
    if (fault === null) this.#forgetFailures();
    const due = await this.#plan();
    // Saved before the first call that changes anything, to be sure that its outcome can be saved.
    if ([...due.values()].some(({ length }) => length > 0)) await save();
    const outcomes = await this.#settle(due);
    await saveCycle();
    return {
      error: fault === null ? null : this.#problemOf(fault),
      warnings: [
        ...(state.meta.holds === null ? [] : [holdsWarning(state.meta.holds)]),
        ...outcomes.flatMap(([label, outcome]) => warningOf(label, outcome)),
        ...this.#subordinates.filter(({ approvesItself }) => approvesItself).map(({ label }) => selfApproval(label)),
      ],
      hasMore: outcomes.some(([, outcome]) => outcome === 'more'),
    };
  }

  #problemOf(error: RemoteError): string {
    const { label } = this.#with.primary;
    return error.isForbidden
      ? `${label} refuses its key; correct the key`
      : `${label} cannot be read: ${error.message}`;
  }

  /**
   * For each subordinate the fingerprints about which something is to be done: first those that have not failed, with
   * the oldest request first, then those that have failed, with the oldest failure first.
   */
  async #plan(): Promise<ReadonlyMap<Subordinate, readonly string[]>> {
    const { state } = this.#with;
    const due = new Map(this.#subordinates.map(subordinate => [subordinate, [] as string[]]));
    const visit = (fingerprint: string): void => {
      for (const [subordinate, list] of due) {
        const plan = subordinate.plan(fingerprint);
        if (plan === 'due') list.push(fingerprint);
        // A fingerprint about which nothing is to be done has not failed any more.
        else if (plan === 'settled' && state.failed.size > 0)
          state.failed.delete(failureKey(fingerprint, subordinate.label));
      }
    };
    for (const subordinate of this.#subordinates) subordinate.approvesItself = false;
    await forEachInSlices(this.#primary.fingerprints, visit);
    await forEachInSlices(state.requests, ([fingerprint, { deleted }]) => {
      if (deleted === true && this.#primary.group(fingerprint) === undefined) visit(fingerprint);
    });
    for (const [subordinate, list] of due) sort(list, fingerprint => this.#oldestId(fingerprint), subordinate);
    return due;
  }

  #oldestId(fingerprint: string): number {
    const tracked = this.#with.state.requests.get(fingerprint);
    const [id] = this.#primary.group(fingerprint)?.ids ?? (tracked === undefined ? [] : primaryIds(tracked));
    return id ?? 0;
  }

  async #settle(due: ReadonlyMap<Subordinate, readonly string[]>): Promise<readonly (readonly [string, Outcome])[]> {
    const queue = new WorkQueue({ concurrency: PARALLEL });
    const busy = [...due].filter(([, list]) => list.length > 0);
    const settled = await Promise.allSettled(
      busy.map(([subordinate, list]) =>
        queue.add(async () => [subordinate.label, await subordinate.settle(list)] as const),
      ),
    );
    return settled.map(result => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  /** Sets the time of failures in the future, which were noted while the clock was wrong, to now. */
  #correctTimes(): void {
    const { state, nowMs } = this.#with;
    const now = timestamp(nowMs());
    for (const failure of state.failed.values()) if (failure.failed_at > now) failure.failed_at = now;
  }

  /** Forgets the failures of requests and subordinates that do not exist any more. */
  #forgetFailures(): void {
    const { state } = this.#with;
    const labels = new Set(this.#with.labels);
    for (const key of [...state.failed.keys()]) {
      const [fingerprint, label] = partsOfKey(key);
      const isKnown = this.#primary.group(fingerprint) !== undefined || state.requests.has(fingerprint);
      if (!isKnown || !labels.has(label)) state.failed.delete(key);
    }
  }
}

function sort(list: string[], idOf: (fingerprint: string) => number, subordinate: Subordinate): void {
  const places = new Map(
    list.map(fingerprint => [fingerprint, { failedAt: subordinate.failedAt(fingerprint), id: idOf(fingerprint) }]),
  );
  const placeOf = (fingerprint: string) => places.get(fingerprint) ?? { failedAt: '', id: 0 };
  list.sort((first, second) => {
    const [a, b] = [placeOf(first), placeOf(second)];
    if (a.failedAt !== b.failedAt) return a.failedAt < b.failedAt ? -1 : 1;
    return a.id - b.id;
  });
}

function warningOf(label: string, outcome: Outcome): string[] {
  if (outcome === 'absent') return [`${label} is not ready and was left out`];
  return outcome === 'key' ? [`${label} refuses its key and was left out; correct the key`] : [];
}

function selfApproval(label: string): string {
  return `${label} approves by itself: pending requests are approved there before anybody approves them on the primary`;
}
