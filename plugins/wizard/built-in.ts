// Finds components that the installed release of a core service contains, so that they are not started a second time.
import path from 'node:path';
import type { ConfigStore } from '#core';
import { fileVersion } from '#kit/fs-out-of-process';
import type { ServiceTemplates } from '../services/contract.ts';

const CHECK_LIMIT_MS = 1_000;

/** Config keys of the components; none before the first install, because only installed files show them. */
export async function builtInComponents(templates: ServiceTemplates, store: ConfigStore): Promise<ReadonlySet<string>> {
  const asked = templates.list().flatMap(({ key, relations }) => {
    const directory = store.get([key, 'config_dir']);
    if (typeof directory !== 'string' || !path.isAbsolute(directory)) return [];
    return (relations?.core?.builtIn ?? []).map(fact => ({ ...fact, directory }));
  });
  const found = await Promise.all(
    asked.map(async ({ component, has, lacks, directory }) => {
      const [isInstalled, hasOwn] = await Promise.all([has, lacks].map(file => exists(path.join(directory, file))));
      return isInstalled && !hasOwn ? [component] : [];
    }),
  );
  return new Set(found.flat());
}

/** Whether a file exists; false if its mount does not answer. */
function exists(file: string): Promise<boolean> {
  return fileVersion(file, CHECK_LIMIT_MS).then(
    version => version !== null,
    () => false,
  );
}
