// Fills the thread for texts, so that everybody else who wants a large text read is told that there is no turn.
import type { Test } from 'tap';
import { LARGE_TEXT_BYTES, readText } from '../../core/kit/text-thread.ts';

/** A module with the functions that read. */
const READER = `data:text/javascript,${encodeURIComponent(`
export const held = (text, gate) => Atomics.wait(new Int32Array(gate), 0, 0, 15_000)
export const length = text => text.length
`)}`;
/** As many as may wait for their turn. */
const WAITING = 100;
/** The smallest text that the thread reads. */
export const LARGE_TEXT = ' '.repeat(LARGE_TEXT_BYTES + 1);

/** Leaves no turn to others until the function that it gives is called, or the test ends. */
export async function fillTextThread(t: Test): Promise<() => Promise<void>> {
  const { held, length } = await import(READER);
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const read = [readText(READER, held, LARGE_TEXT, gate.buffer)];
  for (let place = 0; place < WAITING; place += 1) read.push(readText(READER, length, LARGE_TEXT));
  const all = Promise.all(read);
  const letGo = async (): Promise<void> => {
    // The reader may not wait yet.
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await all;
  };
  t.teardown(letGo);
  return letGo;
}
