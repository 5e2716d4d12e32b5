// Looks ahead to mounts that may be dead: what of this process touches one waits for good, and with it one of the few
// threads that all files share.
import { Problem } from '../contract/problem.ts';
import { fileVersions } from './fs-out-of-process.ts';
import { localPlaces } from './local-place.ts';

/** Throws a Problem 503 that names the place where one of them lies on a mount that does not answer within 5 s. */
export async function requireAnswer(places: readonly string[]): Promise<void> {
  const isLocal = await localPlaces();
  const local = await Promise.all(places.map(isLocal));
  const others = places.filter((_place, index) => local[index] === false);
  await fileVersions(others).catch((cause: Error) => {
    throw new Problem(503, `${cause.message}; look after its mount, then try again`, { cause });
  });
}
