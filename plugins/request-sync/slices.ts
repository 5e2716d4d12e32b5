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
