// What the file of a release before 2.0 has besides: its own places for the folder of downloads, for the mount and for what
// lies below it.
import type { NamedBlock } from '#core';

type Entry = Readonly<Record<string, unknown>>;

const EARLIER = /^v?[01]\./;
/** It knows one mount of its own; the other kinds leave that to somebody else. */
const OWN_MOUNTS: readonly unknown[] = ['rclone', 'dfs', ''];

export function isEarlier(version: string | null | undefined): boolean {
  return version !== undefined && version !== null && EARLIER.test(version);
}

/** `present` has the folder of downloads where later releases have it, which earlier ones pass over. */
export function earlierForm({ block }: NamedBlock, present: Entry): Record<string, unknown> {
  const { mount_type: kind, mount_path: place } = block;
  const { download_folder: downloads } = present;
  return {
    ...(typeof downloads === 'string' ? { qbittorrent: { download_folder: downloads } } : {}),
    rclone: { enabled: OWN_MOUNTS.includes(kind), mount_path: place },
  };
}

/** Each provider has a folder of its own below the mount. People may have named another. */
export function earlierProvider(entry: Entry, { block }: NamedBlock): Entry {
  return { folder: `${block.mount_path}/${entry.name}/__all__`, use_webdav: true, ...entry };
}
