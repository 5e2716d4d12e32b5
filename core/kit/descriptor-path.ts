// Paths by the descriptor of a directory, which stay valid wherever it is moved; errors name the directory's own path.
import { readlinkSync } from 'node:fs';

/** A path to an open directory itself, also where the host may not enter it. */
export function pathOf(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

/** A path to a name in an open directory. */
export function within(descriptor: number, name: string): string {
  return `${pathOf(descriptor)}/${name}`;
}

/** Where an open directory is now. */
export function placeOf(descriptor: number): string {
  return readlinkSync(pathOf(descriptor));
}

const AT_DESCRIPTOR = /\/proc\/self\/fd\/(\d+)(?:\/\.(?=')|(?=[/']|$))/g;

/** The error, with the paths of directories where their descriptors stood. They must still be open. */
export function withPlaces<Value>(error: Value): Value {
  if (!(error instanceof Error)) return error;
  error.message = told(error.message);
  // `errorText` takes the path from here where it cannot take the message apart.
  if ('path' in error && typeof error.path === 'string') error.path = told(error.path);
  return error;
}

/** Throws what `withPlaces` gives. */
export function tellPlace(error: unknown): never {
  throw withPlaces(error);
}

function told(text: string): string {
  return text.replaceAll(AT_DESCRIPTOR, (at, descriptor: string) => {
    try {
      return placeOf(Number(descriptor));
    } catch {
      return at;
    }
  });
}
