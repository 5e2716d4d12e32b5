// The stream that a plugin gives as an answer, read as code of that plugin and with a deadline for each piece.
import { Readable } from 'node:stream';
import type { Call, Owner } from '../kit/owner.ts';

/** How long a source may give nothing before it counts as stopped. */
const PIECE_MS = 30_000;
const ENDED: IteratorResult<unknown> = { done: true, value: undefined };

/**
 * A stream of the same pieces. It ends with an error, which counts against the owner, when the source fails or stops,
 * and destroys the source at its own end.
 */
export function readAs(owner: Owner, { place, what }: Call, source: Readable): Readable {
  const call: Call = { place, what: `the stream that ${what} gives`, deadlineMs: PIECE_MS };
  let reader: AsyncIterator<unknown> | undefined;
  let isOver = false;
  /** Ends the wait for the next piece, which a destroyed source may never end. */
  let leave = (): void => undefined;

  const next = (): Promise<IteratorResult<unknown>> =>
    new Promise((resolve, reject) => {
      leave = () => resolve(ENDED);
      reader ??= source[Symbol.asyncIterator]();
      Promise.resolve(reader.next())
        .then(result => resolve(pieceOf(result)))
        .catch(reject);
    });
  const give = async (): Promise<void> => {
    try {
      const { done, value } = await owner.invoke(call, next);
      if (!isOver) read.push(done === true ? null : value);
    } catch (error) {
      read.destroy(error as Error);
    }
  };
  const read: Readable = new Readable({
    objectMode: true,
    highWaterMark: 1,
    read: () => void give(),
    destroy(error, done) {
      isOver = true;
      // A source that is destroyed because the client left has neither failed nor stopped.
      leave();
      try {
        owner.invoke(call, () => void source.destroy());
      } catch {
        // `invoke` has counted and logged the error.
      }
      done(error);
    },
  });
  return read;
}

function pieceOf(result: IteratorResult<unknown>): IteratorResult<unknown> {
  const { done, value } = result;
  if (done === true || typeof value === 'string' || value instanceof Uint8Array) return result;
  throw new TypeError(`it gives a piece that is neither text nor bytes: ${value === null ? 'null' : typeof value}`);
}
