// The directories that a service may have when its block names none.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { slugOf } from './slug.ts';

/** The longest name that every usual file system takes. */
const MAX_NAME_BYTES = 255;
const DIGEST_CHARACTERS = 12;

interface ServicePlaces {
  /**
   * Named after the slug of the service, which several services may share; null when the slug is too long for a name.
   */
  readonly usual: string | null;
  /** Named after the slug and a digest of the service's name, so that no other service has it. */
  readonly alone: string;
}

export function servicePlaces(configDir: string, processName: string): ServicePlaces {
  return ownPlaces(path.join(configDir, 'services'), slugOf(processName), processName);
}

/** The places in `directory`, which holds a directory for each service. */
export function ownPlaces(directory: string, slug: string, processName: string): ServicePlaces {
  const digest = createHash('sha256').update(processName).digest('hex').slice(0, DIGEST_CHARACTERS);
  const place = (name: string): string => path.join(directory, name);
  return {
    usual: slug.length > MAX_NAME_BYTES ? null : place(slug),
    alone: place(`${slug.slice(0, MAX_NAME_BYTES - 1 - DIGEST_CHARACTERS)}-${digest}`),
  };
}
