// The files that the pages load: own start scripts and a fixed list of files from installed packages, nothing else.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { answer, Problem, type RouteAnswer } from '#core';

export type Asset =
  | { readonly text: string; readonly type: string }
  | { readonly inPackage: string; readonly file: string; readonly type: string };

const resolve = createRequire(import.meta.url).resolve;

export async function loadAsset(assets: Readonly<Record<string, Asset>>, name: string): Promise<RouteAnswer> {
  const asset = Object.hasOwn(assets, name) ? assets[name] : undefined;
  if (asset === undefined) throw new Problem(404, 'Not found');
  const body = 'text' in asset ? asset.text : await readFile(locate(asset.inPackage, asset.file));
  return answer(body, { headers: { 'Content-Type': asset.type, 'Cache-Control': 'public, max-age=3600' } });
}

/** Only located, never imported: the packages are large and their files are for browsers. */
function locate(inPackage: string, file: string): string {
  return path.join(path.dirname(resolve(inPackage)), file);
}
