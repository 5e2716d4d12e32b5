// Finds the plugins that cannot load without a given one.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { pluginsDir } from './host.ts';

/** The plugin itself and all plugins that need it, directly or through others. */
export async function withDependents(name: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  const needs = new Map(
    await Promise.all(
      names.map(async other => {
        const { default: plugin } = await import(pathToFileURL(path.join(pluginsDir, other, 'index.ts')).href);
        return [other, (plugin as { needs?: readonly string[] }).needs ?? []] as const;
      }),
    ),
  );
  const gone = new Set([name]);
  for (const member of gone) for (const [other, wanted] of needs) if (wanted.includes(member)) gone.add(other);
  return gone;
}
