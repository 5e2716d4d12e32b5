// What the file of a release before 2.0 has besides: its own places for the folder of downloads, for the mount and for
// what lies below it.
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

/** `present` has the folder of downloads where later releases have it, which earlier ones pass over. */
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

/** Each provider has a folder of its own below the mount. People may have named another. */
export function earlierProvider(entry: Entry, { block }: NamedBlock): Entry {
  return { folder: `${block.mount_path}/${entry.name}/__all__`, use_webdav: true, ...entry };
}
