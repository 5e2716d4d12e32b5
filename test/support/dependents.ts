// Which plugins go when one goes: those that cannot do without it.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { pluginsDir } from './host.ts';

/** The plugin and, through `needs`, all that depend on it. */
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
