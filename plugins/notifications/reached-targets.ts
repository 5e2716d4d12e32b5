// The parts and targets that one delivery has reached. They are noted during the attempt, so that a repetition skips
// them even when the attempt was cut off.
import { createHash } from 'node:crypto';
import type { Reached } from './attempt.ts';

const HASH_LENGTH = 16;

export interface ReachedTargetsOptions {
  readonly deliveryId: string;
  /** Targets that were reached under another URL do not count. */
  readonly url: string;
  /** The text of an earlier attempt. */
  readonly noted: string | null;
  /** Called with the new text each time a target is added. */
  note(text: string): void;
}

export class ReachedTargets implements Reached {
  readonly #of: ReachedTargetsOptions;
  /** Hashes, because targets are parts of the URL, which is a secret. */
  readonly #hashes: Set<string>;

  constructor(options: ReachedTargetsOptions) {
    this.#of = options;
    this.#hashes = new Set(options.noted?.split(' '));
  }

  /** Plain text for the queue; null when nothing was reached. */
  get text(): string | null {
    return this.#hashes.size === 0 ? null : [...this.#hashes].join(' ');
  }

  has(target: string): boolean {
    return this.#hashes.has(this.#hashOf(target));
  }

  add(target: string): void {
    this.#hashes.add(this.#hashOf(target));
    this.#of.note([...this.#hashes].join(' '));
  }

  #hashOf(target: string): string {
    const { deliveryId, url } = this.#of;
    const text = JSON.stringify([deliveryId, url, target]);
    return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
  }
}
