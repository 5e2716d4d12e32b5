// A moment in the name of a file.

/** In UTC, for example 20250131T040000Z. */
export function stampOf(moment: Date): string {
  return moment.toISOString().replaceAll(/[-:]|\.[0-9]+/g, '');
}
