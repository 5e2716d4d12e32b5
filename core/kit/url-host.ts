// Tells whether a URL that a user typed names a host.

/** Uses no URL parser, which would take the first part of the path for a missing host, and a backslash for a slash. */
export function namesHost(url: string): boolean {
  return /^https?:\/\/[^/?#\\\s]/i.test(url);
}
