// Warns of entries in the list of databases that are no objects: they name no database, so none is created for them.
import type { ConfigObject, Host } from '#core';
import { isObject } from '#kit/plain-object';

/** The usual name of a database. Anything else may be an address with a password, or of any length. */
const USUAL_NAME = /^\w[\w-]{0,62}$/;

/** Reports them in a save, in a review, and once in the log. */
export function tellStrayEntries(host: Host, key: string): void {
  const store = host.use('config.store');
  const found = (root: Readonly<ConfigObject>): string[] => {
    const server = root[key];
    const databases = isObject(server) && server.enabled === true ? server.databases : [];
    return Array.isArray(databases)
      ? databases.flatMap((entry, index) => strayEntry(entry, `${key}.databases.${index}`) ?? [])
      : [];
  };
  const told = new Set<string>();
  const tell = (): void => {
    for (const line of found(store.root())) {
      if (!told.has(line)) host.log.warn(line);
      told.add(line);
    }
  };
  host.tap('config.check', ({ before, after, warnings }) => {
    const known = new Set(found(before));
    warnings.push(...found(after).filter(line => !known.has(line)));
  });
  host.tap('config.review', ({ problems }) => void problems.push(...found(store.root())));
  host.tap('host.ready', tell);
  host.tap('config.changed', tell);
}

/** The warning, as one sentence; undefined for an object, and for an entry that was left blank. */
function strayEntry(entry: unknown, place: string): string | undefined {
  const text = typeof entry === 'string' || typeof entry === 'number' ? String(entry).trim() : undefined;
  if (isObject(entry) || entry === null || text === '') return undefined;
  const name = text !== undefined && USUAL_NAME.test(text) ? text : 'NAME';
  return `${place} is no object with a name, so no database is created for it; write {"name": "${name}"} instead`;
}
