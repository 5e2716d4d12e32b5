// Paths by the descriptor of a directory, which stay valid wherever it is moved; errors tell the directory's own path.
import { readlinkSync } from 'node:fs';

/** A path to a name in an open directory. */
export function within(descriptor: number, name: string): string {
  return `/proc/self/fd/${descriptor}/${name}`;
}

/** Where an open directory is now. */
export function placeOf(descriptor: number): string {
  return readlinkSync(`/proc/self/fd/${descriptor}`);
}

/** Throws the error with the path of the directory in its message, where the descriptor stood. */
export function tellPlace(descriptor: number, error: unknown): never {
  const at = within(descriptor, '');
  if (error instanceof Error) error.message = error.message.replaceAll(at, `${placeOf(descriptor)}/`);
  throw error;
}
