// What a plugin's stream gives for an answer, read as that plugin's and within a deadline for each piece.
import { Readable } from 'node:stream';
import type { Call, Owner } from '../kit/owner.ts';

/** A source that gives nothing for so long has stopped. */
const PIECE_MS = 30_000;

/** Ends with an error, which counts against the owner, when the source fails or stops. Destroys the source at its end. */
export function readAs(owner: Owner, { place, what }: Call, source: Readable): Readable {
  const call: Call = { place, what: `the stream that ${what} gives`, deadlineMs: PIECE_MS };
  let isOver = false;
  async function* pieces(): AsyncGenerator<unknown> {
    const reader = owner.invoke(call, () => source[Symbol.asyncIterator]());
    // What is destroyed because the client left has not failed.
    const next = (): Promise<IteratorResult<unknown>> =>
      reader.next().catch((error: unknown) => {
        if (isOver) return { done: true, value: undefined };
        throw error;
      });
    for (;;) {
      const { done, value } = await owner.invoke(call, next);
      if (done === true) return;
      yield value;
    }
  }
  const read = Readable.from(pieces());
  read.once('close', () => {
    isOver = true;
    try {
      owner.invoke(call, () => void source.destroy());
    } catch {
      // It was counted and told where it happened.
    }
  });
  return read;
}
