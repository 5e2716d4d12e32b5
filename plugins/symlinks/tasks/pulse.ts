// Memory that a thread shares with the pool, so that the pool can watch it during a call that may never return.
const HEADER_INTS = 5;
const TEXT_BYTES = 4_096;
const [BEATS, IS_TESTING, LINKS, TEXT_LENGTH, IS_LEFT] = [0, 1, 2, 3, 4];

export function pulseMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_INTS * Int32Array.BYTES_PER_ELEMENT + TEXT_BYTES);
}

export class Pulse {
  readonly #numbers: Int32Array;
  readonly #text: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.#numbers = new Int32Array(memory, 0, HEADER_INTS);
    this.#text = Buffer.from(memory, HEADER_INTS * Int32Array.BYTES_PER_ELEMENT);
  }

  /** Called before each call of the file system. Throws in a thread that was abandoned. */
  beat(): void {
    if (Atomics.load(this.#numbers, IS_LEFT) === 1) throw new Error('another thread does this now');
    Atomics.add(this.#numbers, BEATS, 1);
  }

  /** Marks the thread as abandoned: another thread does its work, so it must stop when its call returns. */
  leave(): void {
    Atomics.store(this.#numbers, IS_LEFT, 1);
  }

  /** Counts links that were found. */
  count(links: number): void {
    Atomics.add(this.#numbers, LINKS, links);
  }

  /** Notes that the next call only asks whether something in `directory`, a raw path, exists. */
  beginTest(directory: string): void {
    this.#numbers[TEXT_LENGTH] = this.#text.write(directory, 'latin1');
    Atomics.store(this.#numbers, IS_TESTING, 1);
    this.beat();
  }

  endTest(): void {
    Atomics.store(this.#numbers, IS_TESTING, 0);
  }

  get beats(): number {
    return Atomics.load(this.#numbers, BEATS);
  }

  get links(): number {
    return Atomics.load(this.#numbers, LINKS);
  }

  /** The directory of the present question about existence; undefined during any other call. */
  get tested(): string | undefined {
    if (Atomics.load(this.#numbers, IS_TESTING) === 0) return undefined;
    return this.#text.toString('latin1', 0, this.#numbers[TEXT_LENGTH]);
  }
}
