// What a preview would have changed so far, by path, in memory that threads share: for a path that the preview has
// changed already, the disk is not right any more. The table holds only hashes; when it is full, changes are not kept.
import type { RawPath } from '../places/raw-path.ts';
import type { Standing } from './decision.ts';

const SLOT_INTS = 2;
const LEAST_SLOTS = 1_024;
const MOST_SLOTS = 1 << 24;
const MAX_TRIES = 64;
const [FREE, NOTHING, DIRECTORY] = [0, 1, 2];

/** Memory for a preview of this many paths. The system provides its pages only when they are first used. */
export function previewMemory(paths: number): SharedArrayBuffer {
  let slots = LEAST_SLOTS;
  while (slots < 2 * paths && slots < MOST_SLOTS) slots *= 2;
  return new SharedArrayBuffer(slots * SLOT_INTS * Uint32Array.BYTES_PER_ELEMENT);
}

export class PreviewTable {
  readonly #slots: Uint32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#slots = new Uint32Array(memory);
  }

  /** What the preview has put at the path; undefined when it has not changed the path. */
  get(path: RawPath): Standing | undefined {
    const at = this.#find(path);
    const value = at === undefined ? FREE : this.#slots[at + 1];
    if (value === undefined || value === FREE) return undefined;
    if (value === NOTHING) return { kind: 'nothing' };
    if (value === DIRECTORY) return { kind: 'directory' };
    return { kind: 'link', target: null, holds: target => linkState(target) === value };
  }

  /** Notes that a link with this target is at the path now; null stands for nothing. */
  setLink(path: RawPath, target: RawPath | null): void {
    this.#set(path, target === null ? NOTHING : linkState(target));
  }

  setDirectory(path: RawPath): void {
    this.#set(path, DIRECTORY);
  }

  #set(path: RawPath, value: number): void {
    const at = this.#find(path);
    if (at === undefined) return;
    this.#slots[at] = checkOf(path);
    this.#slots[at + 1] = value;
  }

  /** The slot of the path, or a free one; undefined when there is none within `MAX_TRIES` slots. */
  #find(path: RawPath): number | undefined {
    const slots = this.#slots;
    const check = checkOf(path);
    const count = slots.length / SLOT_INTS;
    let slot = hash(path, 0x811c9dc5) & (count - 1);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const at = slot * SLOT_INTS;
      if (slots[at] === check || slots[at] === FREE) return at;
      slot = (slot + 1) & (count - 1);
    }
    return undefined;
  }
}

function checkOf(path: RawPath): number {
  return hash(path, 0x9e3779b9) || 1;
}

function linkState(target: RawPath): number {
  return Math.max(hash(target, 0x85ebca6b), DIRECTORY + 1);
}

/** 32 bits of FNV-1a, mixed at the end so that each bit depends on every character. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
