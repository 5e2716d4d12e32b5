// What the program that unpacks is told in its first line, and what it tells in lines of JSON.
import type { Taking, Unpacked, UnpackingProgress } from './contract.ts';

/** The directory is descriptor 3; the archives are those after it. */
export interface UnpackTask {
  readonly archives: number;
  readonly areLayers: boolean;
  readonly take: readonly Taking[];
  readonly withoutTop: boolean;
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** With whose rights it goes on once it has its directory; null for its own. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
}

export const DIRECTORY_DESCRIPTOR = 3;

export type UnpackLine =
  | { readonly alive: true }
  | { readonly progress: UnpackingProgress }
  | { readonly unpacked: Unpacked }
  /** Why it is refused; `archive` counts from 0. */
  | { readonly refusal: string; readonly archive: number }
  | { readonly noRoom: string }
  | { readonly noUnpacker: string }
  | { readonly fault: string };
