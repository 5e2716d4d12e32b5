// Keeps the heap of a host that runs near the size of what lives in it. Beside other load V8 takes its own collections
// for expensive and lets garbage grow to three times that; what it then holds is given back late, or not at all.
import { setFlagsFromString } from 'node:v8';

/**
 * V8 reads the flag after each collection of the old generation, of all threads; these releases of Node are known to.
 */
const KNOWN_RELEASES = new Set(['20', '22', '24', '26']);
/** By so much of what lives the heap may grow before it is collected again. */
const GROWTH_PERCENT = 30;

/** Called when a host has started: while it starts, collections would only take time. */
export function limitHeapGrowth(): void {
  const [release = ''] = process.versions.node.split('.');
  if (KNOWN_RELEASES.has(release)) setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
