// The route that lists the manifests in a directory, for clients that let a user choose one.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { type Host, Problem } from '#core';
import { isAtOrBelow, type Places, scheduleFile, snapshotDir } from '../places/path-rules.ts';
import { manifestFileSchema, manifestFiles } from './manifest-files.ts';
import { manifestPathOf } from './manifest-path.ts';

const MAX_FILES = 500;

export function registerManifestRoutes(host: Host, places: Places): void {
  host.route({
    method: 'GET',
    path: '/process/symlink-manifest-files',
    summary: 'Lists the manifests in the directory of one',
    capability: 'symlink_manifest_file_list',
    query: z.object({ manifest_path: z.string().optional() }),
    response: z.object({
      directory: z.string(),
      manifest_path: z.string(),
      files: z.array(manifestFileSchema),
      count: z.int().nonnegative(),
    }),
    handle: async ({ query }) => {
      const manifestPath = manifestPathOf(query.manifest_path ?? path.join(snapshotDir(places), 'latest.json'), places);
      const directory = path.dirname(manifestPath);
      await refuseOutside(directory, places);
      const isListed = (name: string) => isShown(name) && path.join(directory, name) !== scheduleFile(places);
      const files = await manifestFiles(directory, isListed).catch((error: NodeJS.ErrnoException) => {
        throw new Problem(500, `${directory} cannot be read: ${error.code ?? error.message}`, { cause: error });
      });
      return { directory, manifest_path: manifestPath, files: files.slice(0, MAX_FILES), count: files.length };
    },
  });
}

async function refuseOutside(directory: string, { stateDir }: Places): Promise<void> {
  const [real, realState] = await Promise.all([directory, stateDir].map(realOrSame));
  if (isAtOrBelow(directory, stateDir) && isAtOrBelow(real ?? directory, realState ?? stateDir)) return;
  throw new Problem(400, `Only manifests in ${stateDir} are listed; give a path in it.`);
}

/** The real path; the path itself when nothing exists there, because then no link can lead elsewhere. */
function realOrSame(place: string): Promise<string> {
  return realpath(place).catch(() => place);
}

/** Hidden files are not listed, and neither are those that are being written, which do not end in `.json`. */
function isShown(name: string): boolean {
  return !name.startsWith('.') && name.endsWith('.json');
}
