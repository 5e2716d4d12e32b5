// Which plugins a plugin needs, and which plugins need it.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url));

/** Every plugin of the product, sorted. */
export async function pluginNames(): Promise<string[]> {
  const entries = await readdir(pluginsDir, { withFileTypes: true });
  return entries.flatMap(entry => (entry.isDirectory() ? [entry.name] : [])).sort();
}

/** Each import takes a message to the thread of the loader, so the needs of a plugin are looked up once. */
const known = new Map<string, Promise<readonly string[]>>();

function needsOf(name: string): Promise<readonly string[]> {
  const needs = known.get(name) ?? readNeeds(name);
  known.set(name, needs);
  return needs;
}

/** The needs of a plugin that is not the product's are unknown before it is loaded. */
async function readNeeds(name: string): Promise<readonly string[]> {
  if (!existsSync(path.join(pluginsDir, name))) return [];
  const { default: plugin } = await import(pathToFileURL(path.join(pluginsDir, name, 'index.ts')).href);
  return (plugin as { needs?: readonly string[] }).needs ?? [];
}

/** The plugins and, through `needs`, all that they cannot do without. */
export async function withNeeds(names: readonly string[]): Promise<string[]> {
  const all = new Set(names);
  for (const name of all) for (const needed of await needsOf(name)) all.add(needed);
  return [...all];
}

/** The plugin and, through `needs`, all of `names` that depend on it. */
export async function withDependents(name: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  const needs = await Promise.all(names.map(async other => [other, await needsOf(other)] as const));
  const gone = new Set([name]);
  for (const member of gone) for (const [other, wanted] of needs) if (wanted.includes(member)) gone.add(other);
  return gone;
}
