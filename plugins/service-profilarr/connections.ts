// The rows of Profilarr's database that stand for media managers. Only rows with the tag of managed ones are changed or
// removed. A child process opens the database as the service's user, because SQLite follows links beside the file.
import { changeDatabaseAs } from '#kit/sqlite-as-user';
import type { SetupContext } from '../setup/contract.ts';

/** Marks managed rows; existing databases have this text. */
const MANAGED_TAG = 'dumb:auto';
const LINK_TAG = 'core_service:';
const LIMIT_MS = 20_000;

export interface Connection {
  readonly name: string;
  readonly type: string;
  readonly address: string;
  readonly apiKey: string;
  readonly tags: readonly string[];
}

export interface Place {
  readonly file: string;
  readonly table: string;
  /** Name of the column with the address. */
  readonly addressColumn: string;
}

/** Column and table names are constants of this plugin; everything else is a parameter. */
const CHANGE = `(db, { table, addressColumn, wanted, names, managedTag, linkTag }) => {
  const tagsOf = row => { try { const tags = JSON.parse(row.tags); return Array.isArray(tags) ? tags : [] } catch { return [] } }
  const changes = []
  const rows = db.prepare('SELECT rowid AS row_number, * FROM ' + table).all()
  const managed = rows.filter(row => tagsOf(row).includes(managedTag))
  for (const { name, type, address, apiKey, tags } of wanted) {
    const row = rows.find(candidate => candidate.name === name)
    if (row !== undefined && !managed.includes(row)) continue
    const kept = row === undefined ? [] : tagsOf(row).filter(tag => !String(tag).startsWith(linkTag) && !tags.includes(tag))
    const values = [type, address, apiKey, JSON.stringify([...tags, ...kept])]
    if (row === undefined) {
      db.prepare('INSERT INTO ' + table + ' (name, type, ' + addressColumn + ', api_key, tags) VALUES (?, ?, ?, ?, ?)').run(name, ...values)
      changes.push(name + ' was added')
    } else if (values.some((value, at) => value !== [row.type, row[addressColumn], row.api_key, row.tags][at])) {
      db.prepare('UPDATE ' + table + ' SET type = ?, ' + addressColumn + ' = ?, api_key = ?, tags = ? WHERE rowid = ?').run(...values, row.row_number)
      changes.push(name + ' was brought up to date')
    }
  }
  for (const row of managed.filter(({ name }) => !names.includes(name))) {
    db.prepare('DELETE FROM ' + table + ' WHERE rowid = ?').run(row.row_number)
    changes.push(row.name + ' was removed')
  }
  return changes
}`;

/**
 * Adds, corrects and removes managed rows; those in `names` stay even if their API key is not known at present. Returns
 * a text for each change. Throws an Error when the database cannot be changed.
 */
export async function connect(
  { file, table, addressColumn }: Place,
  wanted: readonly Connection[],
  names: readonly string[],
  user: SetupContext['owner'],
): Promise<string[]> {
  const tagged = wanted.map(connection => ({ ...connection, tags: [MANAGED_TAG, ...connection.tags] }));
  const input = { table, addressColumn, wanted: tagged, names, managedTag: MANAGED_TAG, linkTag: LINK_TAG };
  return (await changeDatabaseAs({ file, user, change: CHANGE, input, limitMs: LIMIT_MS })) as string[];
}

export function linkTags(links: readonly string[]): string[] {
  return links.map(link => `${LINK_TAG}${link}`);
}
