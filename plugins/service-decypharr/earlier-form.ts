// Additional settings in the file of a release before 2.0, which has other places for the download folder, the mount
// and the folders of providers.
import { z } from 'zod';
import type { NamedBlock } from '#core';

type Entry = Readonly<Record<string, unknown>>;

const EARLIER = /^v?[01]\./;

const factsSchema = z.object({
  earlierMount: z.string().optional().describe('member of the file of an earlier release that says how it mounts'),
});

export function isEarlier(version: string | null | undefined): boolean {
  return version !== undefined && version !== null && EARLIER.test(version);
}

/** `present` has the download folder where later releases expect it; earlier releases ignore that place. */
export function earlierForm(
  { block }: NamedBlock,
  present: Entry,
  { facts, mounts }: { readonly facts: unknown; readonly mounts: boolean },
): Record<string, unknown> {
  const { earlierMount } = factsSchema.parse(facts ?? {});
  const { download_folder: downloads } = present;
  return {
    ...(typeof downloads === 'string' ? { qbittorrent: { download_folder: downloads } } : {}),
    ...(earlierMount === undefined ? {} : { [earlierMount]: { enabled: mounts, mount_path: block.mount_path } }),
  };
}

/** A provider with its own folder below the mount, unless `entry` names another folder. */
export function earlierProvider(entry: Entry, { block }: NamedBlock): Entry {
  return { folder: `${block.mount_path}/${entry.name}/__all__`, use_webdav: true, ...entry };
}
