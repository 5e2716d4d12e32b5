// The library folder of a media manager, which depends on the download services that it uses.
import path from 'node:path';
import type { Host } from '#core';
import type { ArrDownloadService, ArrInstance } from './contract.ts';

const COMBINED_FOLDER = 'combined_symlinks';
/** Permissive, because several services write to the folder. */
const PERMISSIONS = { setPermissionsLinux: true, chmodFolder: '777', chmodFile: '666' };

interface RootFolder {
  readonly path?: unknown;
}

type Settings = Readonly<Record<string, unknown>>;

/** The library folder; undefined when no service provides one. Managers of several services use a combined folder. */
export function libraryOf(
  links: readonly string[],
  services: readonly Pick<ArrDownloadService, 'configKey' | 'libraryFolder'>[],
  slug: string,
  root: string,
): string | undefined {
  const ways = services.filter(({ configKey }) => links.includes(configKey));
  const folder = ways.length > 1 ? COMBINED_FOLDER : ways[0]?.libraryFolder;
  return folder === undefined ? undefined : path.join(root, folder, slug);
}

/** Permissions are set only together with a new folder, and before it, so that a later choice by a user is kept. */
export async function setUpLibrary(
  instance: ArrInstance,
  library: string,
  host: Host,
  told: (change: string) => void,
): Promise<void> {
  const ask: Ask = (at, change) => host.use('arr.applications').ask(instance, at, change);
  const folders = (await ask('rootfolder')) as readonly RootFolder[];
  if (folders.some(folder => typeof folder.path === 'string' && path.resolve(folder.path) === library)) return;
  const settings = (await ask('config/mediamanagement')) as Settings;
  if (settings.setPermissionsLinux !== true) {
    const wanted = Object.fromEntries(Object.entries(PERMISSIONS).filter(([name]) => name in settings));
    await ask(`config/mediamanagement/${settings.id}`, { method: 'PUT', json: { ...settings, ...wanted } });
    told('files of its library are open to every service');
  }
  const defaults = instance.facts.rootFolderProfiles ? await profileDefaults(instance, ask) : {};
  await ask('rootfolder', { method: 'POST', json: { path: library, ...defaults } });
  told(`root folder ${library} was added`);
}

type Ask = (path: string, change?: { method: 'POST' | 'PUT'; json: unknown }) => Promise<unknown>;

/** The first profile of each kind. */
async function profileDefaults({ name }: ArrInstance, ask: Ask): Promise<Settings> {
  const first = async (profiles: string): Promise<unknown> =>
    ((await ask(profiles)) as readonly { readonly id?: unknown }[])[0]?.id;
  return {
    name,
    defaultQualityProfileId: await first('qualityprofile'),
    defaultMetadataProfileId: await first('metadataprofile'),
    defaultMonitorOption: 'all',
    defaultNewItemMonitorOption: 'all',
    defaultTags: [],
  };
}
