// The name of a process as a part of file names.

/** Lower case, letters, digits, dots and underscores, with hyphens for everything else. */
export function slugOf(processName: string): string {
  const slug = processName
    .toLowerCase()
    .replaceAll(/[^a-z0-9._]+/g, '-')
    .replace(/^[-.]+|-+$/g, '');
  return slug === '' ? 'process' : slug;
}
