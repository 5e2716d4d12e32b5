// Keeps the heap of a running host close to the size of its live objects. On a busy machine V8 takes its collections
// for expensive and lets the heap grow to three times that size; it gives the memory back late, or not at all.
import { setFlagsFromString } from 'node:v8';

/** The releases of Node known to read the flag after each collection of the old generation, in all threads. */
const KNOWN_RELEASES = new Set(['20', '22', '24', '26']);
/** How far the heap may grow beyond its live objects before the next collection. */
const GROWTH_PERCENT = 30;

/** To be called when the host has started: during the start, collections would only take time. */
export function limitHeapGrowth(): void {
  const [release = ''] = process.versions.node.split('.');
  if (KNOWN_RELEASES.has(release)) setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
