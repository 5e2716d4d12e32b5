// The text forms of a moment in manifests and in names of files.

/** In UTC, for example 2025-01-31T04:00:00Z. */
export function timeOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 19)}Z`;
}

/** In UTC, for example 20250131T040000Z. */
export function stampOf(moment: Date): string {
  return moment.toISOString().replaceAll(/[-:]|\.[0-9]+/g, '');
}
