// Formats a moment for answers of the API.

/** The moment in UTC and to the second, for example 2025-01-31T04:00:00Z. */
export function utcTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
