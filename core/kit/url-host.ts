// Whether a URL that somebody typed names a host.

/**
 * A URL parser takes the first part of the path for the host where there is none, and takes a backslash for a slash.
 */
export function namesHost(url: string): boolean {
  return /^https?:\/\/[^/?#\\\s]/i.test(url);
}
