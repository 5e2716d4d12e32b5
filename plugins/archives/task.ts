// The task that the unpacking child gets in its first line, and the lines of JSON that it answers with.
import type { Taking, Unpacked, UnpackingProgress } from './contract.ts';

/** The child inherits the directory as descriptor 3, and the archives as those after it. */
export interface UnpackTask {
  readonly archives: number;
  readonly areLayers: boolean;
  readonly take: readonly Taking[];
  readonly withoutTop: boolean;
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** The user that the child becomes once it has entered the directory; null to stay the same. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

export const DIRECTORY_DESCRIPTOR = 3;

export type UnpackLine =
  | { readonly alive: true }
  | { readonly progress: UnpackingProgress }
  | { readonly unpacked: Unpacked }
  /** Why an archive is refused; `archive` is its index. */
  | { readonly refusal: string; readonly archive: number }
  | { readonly noRoom: string }
  | { readonly noUnpacker: string }
  | { readonly fault: string };
