// The directories that a service may have whose block names none.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { slugOf } from './slug.ts';

/** Of a name in every file system that services live on. */
const MAX_NAME_BYTES = 255;
const DIGEST_CHARACTERS = 12;

interface ServicePlaces {
  /** As the slug of the service says, which others may share; null when that is too long for a directory. */
  readonly usual: string | null;
  /** Of this name alone. */
  readonly alone: string;
}

export function servicePlaces(configDir: string, processName: string): ServicePlaces {
  return ownPlaces(path.join(configDir, 'services'), slugOf(processName), processName);
}

/** Of a service whose name has that slug, in a directory that holds one for each service. */
export function ownPlaces(directory: string, slug: string, processName: string): ServicePlaces {
  const digest = createHash('sha256').update(processName).digest('hex').slice(0, DIGEST_CHARACTERS);
  const place = (name: string): string => path.join(directory, name);
  return {
    usual: slug.length > MAX_NAME_BYTES ? null : place(slug),
    alone: place(`${slug.slice(0, MAX_NAME_BYTES - 1 - DIGEST_CHARACTERS)}-${digest}`),
  };
}
