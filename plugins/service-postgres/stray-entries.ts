// Warns of entries in the list of databases that are no objects: they name no database, so none is created for them.
import type { ConfigObject, Host } from '#core';
import { ConfigWarnings } from '#kit/config-warnings';
import { isObject } from '#kit/plain-object';

/** The usual name of a database. Anything else may be an address with a password, or of any length. */
const USUAL_NAME = /^\w[\w-]{0,62}$/;

/** Reports them in a save, in a review, and once in the log. */
export function tellStrayEntries(host: Host, key: string): void {
  const warnings = new ConfigWarnings(host, root => strayEntries(root, key));
  host.tap('config.check', candidate => warnings.check(candidate));
  host.tap('config.review', review => warnings.review(review));
  host.tap('host.ready', () => warnings.tell());
  host.tap('config.changed', () => warnings.tell());
}

function strayEntries(root: Readonly<ConfigObject>, key: string): string[] {
  const server = root[key];
  const databases = isObject(server) && server.enabled === true ? server.databases : [];
  if (!Array.isArray(databases)) return [];
  return databases.flatMap((entry, index) => strayEntry(entry, `${key}.databases.${index}`) ?? []);
}

/** The warning, as one sentence; undefined for an object, and for an entry that was left blank. */
function strayEntry(entry: unknown, place: string): string | undefined {
  const text = typeof entry === 'string' || typeof entry === 'number' ? String(entry).trim() : undefined;
  if (isObject(entry) || entry === null || text === '') return undefined;
  const name = text !== undefined && USUAL_NAME.test(text) ? text : 'NAME';
  return `${place} is no object with a name, so no database is created for it; write {"name": "${name}"} instead`;
}
