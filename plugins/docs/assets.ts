// Serves the files that the pages load: their start scripts and listed files of installed packages, and nothing else.
import { readFile } from 'node:fs/promises';
import { type Answer, answer, Problem } from '#core';

export type Asset =
  | { readonly text: string; readonly type: string }
  | { readonly file: () => URL; readonly type: string };

export async function loadAsset(
  assets: Readonly<Record<string, Asset>>,
  name: string,
): Promise<Answer<string | Buffer>> {
  const asset = Object.hasOwn(assets, name) ? assets[name] : undefined;
  if (asset === undefined) throw new Problem(404, 'Not found');
  const body = 'text' in asset ? asset.text : await readFile(asset.file());
  return answer(body, { headers: { 'Content-Type': asset.type, 'Cache-Control': 'public, max-age=3600' } });
}
