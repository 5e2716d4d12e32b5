// Decides which folders the gateway may serve as static files.
import path from 'node:path';
import type { Host } from '#core';
import { errorText } from '#kit/error-text';
import { fileVersion } from '#kit/fs-out-of-process';
import { isHostState, usersFiles } from '#kit/host-state';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';

const PAGE = 'index.html';

/** Refuses folders that hold state of the host, lie in it, or belong to the system. All paths are real ones. */
export async function refusalOf(host: Host): Promise<(folder: string) => string | null> {
  const configDir = await realPlaceOf(host.paths.configDir);
  const logDir = await realPlaceOf(host.paths.logDir);
  // A mount that does not answer keeps the gateway from nothing: the users on it cannot be read either.
  const users = await Promise.all(usersFiles(host.paths.configDir).map(file => realPlaceOf(file).catch(() => file)));
  const isIn = (place: string, folder: string): boolean => place === folder || place.startsWith(`${folder}/`);
  return folder => {
    if (folder === '/' || [configDir, logDir, ...users].some(place => isIn(place, folder)))
      return `${folder} holds the state of Stackwarden itself`;
    if (isHostState(folder, configDir) || isIn(folder, logDir))
      return `${folder} lies in the state of Stackwarden itself`;
    const isOfSystem = isSystemPath(folder) && ![configDir, '/usr'].some(place => isIn(folder, place));
    return isOfSystem ? `${folder} belongs to the system` : null;
  };
}

/** Why the configured folder is not served; undefined when it is served or none is configured. */
export async function faultOfFolder(
  staticDir: string,
  refusal: (folder: string) => string | null,
): Promise<string | undefined> {
  if (staticDir === '') return undefined;
  const folder = path.resolve(staticDir);
  const reason = await realPlaceOf(folder)
    .then(async real => refusal(real) ?? (await lackOf(folder)))
    .catch(errorText);
  return reason === null ? undefined : `dumb.gateway.static_dir is not served: ${reason}; name the frontend's folder`;
}

async function lackOf(folder: string): Promise<string | null> {
  return (await fileVersion(path.join(folder, PAGE))) === null ? `${folder} holds no ${PAGE}` : null;
}
