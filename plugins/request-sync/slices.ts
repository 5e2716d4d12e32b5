// Visits the members of long lists without holding the event loop for long.
import { setImmediate as turn } from 'node:timers/promises';

const SLICE_MS = 5;
/** How many members are visited between two looks at the clock. */
const STRIDE = 64;

export async function forEachInSlices<Member>(
  members: Iterable<Member>,
  visit: (member: Member) => void,
): Promise<void> {
  let sinceMs = performance.now();
  let count = 0;
  for (const member of members) {
    visit(member);
    count += 1;
    if (count % STRIDE !== 0 || performance.now() - sinceMs < SLICE_MS) continue;
    await turn();
    sinceMs = performance.now();
  }
}

/** Joins pieces of text to larger ones for a stream, which alone would read on until its reader is full. */
export async function* joinedInSlices(pieces: Iterable<string>): AsyncGenerator<string> {
  let sinceMs = performance.now();
  let count = 0;
  let text = '';
  for (const piece of pieces) {
    text += piece;
    count += 1;
    if (count % STRIDE !== 0 || performance.now() - sinceMs < SLICE_MS) continue;
    yield text;
    text = '';
    await turn();
    sinceMs = performance.now();
  }
  if (text !== '') yield text;
}
