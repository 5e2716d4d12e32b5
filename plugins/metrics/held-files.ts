// One /proc file of each process, held open from one look to the next: a read through a descriptor takes a third of
// the time of opening the file again. A descriptor belongs to one process: once that has ended, reads fail, even when
// another process has the pid.
import { closeSync, openSync } from 'node:fs';
import { descriptorLimit, lacksDescriptors } from '#kit/descriptors';
import { heldRecord } from '#kit/kernel-text';
import { procRecord } from './proc-text.ts';

/** The greatest part of the host's descriptors that are held. */
const SHARE = 1 / 16;
/** The greatest number of files that are held; those of further processes are opened for each look. */
const MAX_HELD = 512;

interface Held {
  readonly descriptor: number;
  round: number;
}

export class HeldFiles {
  readonly #name: 'stat' | 'io';
  #room = Math.min(MAX_HELD, Math.floor(descriptorLimit() * SHARE));
  readonly #held = new Map<number, Held>();
  #round = 0;

  constructor(name: 'stat' | 'io') {
    this.#name = name;
  }

  /** See `kernelRecord`: the next read of any such file overwrites the bytes. null when the file cannot be read. */
  read(pid: number): Buffer | null {
    const held = this.#held.get(pid) ?? this.#open(pid);
    if (held === undefined) return procRecord(this.#fileOf(pid));
    held.round = this.#round;
    try {
      return heldRecord(held.descriptor);
    } catch {
      // The process has ended; another one may have its pid.
      this.#close(pid, held);
      return procRecord(this.#fileOf(pid));
    }
  }

  /** Keeps a file open that is not read in this round. */
  keep(pid: number): void {
    const held = this.#held.get(pid);
    if (held !== undefined) held.round = this.#round;
  }

  /** Ends a round of looks: files that were neither read nor kept in it are closed. */
  endRound(): void {
    for (const [pid, held] of this.#held) if (held.round !== this.#round) this.#close(pid, held);
    this.#round += 1;
  }

  /** Closes all files and holds none from now on, not even for a look that is under way. */
  close(): void {
    this.#room = 0;
    this.#closeAll();
  }

  /** undefined when there is no room for the file, or it cannot be opened. */
  #open(pid: number): Held | undefined {
    if (this.#held.size >= this.#room) return undefined;
    try {
      const held = { descriptor: openSync(this.#fileOf(pid), 'r'), round: this.#round };
      this.#held.set(pid, held);
      return held;
    } catch (error) {
      // The host has run out of descriptors: those held here are given back.
      if (lacksDescriptors(error)) this.#closeAll();
      return undefined;
    }
  }

  #closeAll(): void {
    for (const [pid, held] of this.#held) this.#close(pid, held);
  }

  #close(pid: number, { descriptor }: Held): void {
    this.#held.delete(pid);
    closeSync(descriptor);
  }

  #fileOf(pid: number): string {
    return `/proc/${pid}/${this.#name}`;
  }
}
