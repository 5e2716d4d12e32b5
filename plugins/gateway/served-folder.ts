// Decides which folders the gateway may serve as static files.
import type { Host } from '#core';
import { isHostState } from '#kit/host-state';
import { isSystemPath, realPlaceOf } from '#kit/system-paths';

/** Refuses folders that hold state of the host, lie in it, or belong to the system. All paths are real ones. */
export async function refusalOf(host: Host): Promise<(folder: string) => string | null> {
  const configDir = await realPlaceOf(host.paths.configDir);
  const logDir = await realPlaceOf(host.paths.logDir);
  const isIn = (place: string, folder: string): boolean => place === folder || place.startsWith(`${folder}/`);
  return folder => {
    if (folder === '/' || [configDir, logDir].some(place => isIn(place, folder)))
      return `${folder} holds the state of Stackwarden itself`;
    if (isHostState(folder, configDir) || isIn(folder, logDir))
      return `${folder} lies in the state of Stackwarden itself`;
    const isOfSystem = isSystemPath(folder) && ![configDir, '/usr'].some(place => isIn(folder, place));
    return isOfSystem ? `${folder} belongs to the system` : null;
  };
}
