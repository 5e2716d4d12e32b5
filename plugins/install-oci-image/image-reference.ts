// The tags or the digest by which a registry is asked for the image that a block selects.
import { Problem } from '#core';

const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const NUMBER = /^\d+(\.\d+)+/;

/**
 * The references to try for a selection, in order: versions are published with and without a `v`. Throws a Problem 400
 * for a text that can be neither a tag nor a digest.
 */
export function referencesOf(selected: string): readonly [string, ...string[]] {
  if (DIGEST.test(selected)) return [selected];
  if (!TAG.test(selected))
    throw new Problem(
      400,
      `${JSON.stringify(selected)} is neither a tag nor a digest of an image; correct release_version`,
    );
  const bare = selected.replace(/^v(?=\d)/, '');
  return NUMBER.test(bare) ? [selected, selected === bare ? `v${bare}` : bare] : [selected];
}

export function isDigest(reference: string): boolean {
  return DIGEST.test(reference);
}
