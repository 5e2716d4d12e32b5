// Makes sure that mounts answer before this process touches them: a call on a dead mount waits for good, and keeps one
// of the few threads that all file calls share.
import { Problem } from '../contract/problem.ts';
import { fileVersions } from './fs-out-of-process.ts';
import { localPlaces } from './local-place.ts';

/** Throws a Problem 503 that names the first of the places whose mount does not answer within 5 s. */
export async function requireAnswer(places: readonly string[]): Promise<void> {
  const isLocal = await localPlaces();
  const local = await Promise.all(places.map(isLocal));
  const others = places.filter((_place, index) => local[index] === false);
  await fileVersions(others).catch((cause: Error) => {
    throw new Problem(503, `${cause.message}; look after its mount, then try again`, { cause });
  });
}
