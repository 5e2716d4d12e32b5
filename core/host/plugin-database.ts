// Opens the databases of one plugin: decides where their files are, and makes sure that each file has one owner.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DatabaseOptions } from '../contract/database.ts';
import { membersOf, refuseMisspelt } from '../kit/checked-argument.ts';
import { NameTaken } from '../kit/name-taken.ts';
import { SqliteThread } from '../kit/sqlite-thread.ts';
import type { PluginFolder } from './discover.ts';
import type { Scope } from './scope.ts';

const NAME = /^[a-z][a-z0-9-]{0,63}$/;
const BUSY_TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MEMBERS = membersOf<DatabaseOptions>({
  statements: true,
  file: true,
  readOnly: true,
  synchronous: true,
  onCorrupt: true,
  pageBytes: true,
  canShrink: true,
  busyTimeoutMs: true,
  maxBytes: true,
});

interface DatabaseOwner {
  /** The load of the plugin that has reserved the file. */
  readonly scope: Scope;
  /** Resolves when another load may open the file. */
  readonly closed: Promise<void>;
}

export interface DatabasePlace {
  readonly configDir: string;
  /** Who has reserved a database file, by its path. */
  readonly owners: Map<string, DatabaseOwner>;
  /** Whether databases are empty and in memory, so that no file is read or written. */
  readonly dryRun: boolean;
}

/** The error for a database that an earlier load of the plugin still has, because its last call has not ended. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse';
  /** Resolves when the database is free. */
  readonly closed: Promise<void>;

  constructor(file: string, { scope, closed }: DatabaseOwner) {
    super(
      `${file} is still the database of an earlier load of ${scope.plugin}, whose last call has not ended; ` +
        'the plugin is set up again when it has',
    );
    this.closed = closed;
  }
}

/** Throws an Error when the name, the module or the file cannot belong to this plugin. */
export function ownDatabase(
  scope: Scope,
  { folder, indexFile }: Pick<PluginFolder, 'folder' | 'indexFile'>,
  name: string,
  options: DatabaseOptions,
  { configDir, owners, dryRun }: DatabasePlace,
): SqliteThread {
  scope.requireLive();
  if (!NAME.test(name)) throw new Error(`'${name}' is no name of a database: lower-case letters, digits, hyphens`);
  refuseMisspelt(Object.keys(options), MEMBERS, `the database '${name}' of ${scope.plugin}`);
  const module = path.resolve(folder, `${options.statements}${path.extname(indexFile)}`);
  if (!module.startsWith(folder + path.sep)) throw new Error(`${options.statements} lies outside the plugin's folder`);
  if (!existsSync(module)) throw new Error(`the statements of the database ${name} are not there: ${module}`);
  if (options.file !== undefined && !path.isAbsolute(options.file))
    throw new Error(`the file of the database ${name} must be an absolute path`);
  const file = path.resolve(options.file ?? path.join(configDir, 'data', scope.plugin, `${name}.sqlite`));
  const { readOnly = false } = options;
  if (!readOnly) refuseOwned(file, owners.get(file), scope);
  let tellClosed!: () => void;
  const closed = new Promise<void>(resolve => {
    tellClosed = resolve;
  });
  if (!readOnly) owners.set(file, { scope, closed });
  const database = new SqliteThread(
    {
      ...threadOptions(options, file, configDir),
      file: dryRun ? null : file,
      statements: pathToFileURL(module).href,
    },
    {
      warn: message => scope.log.warn(message),
      closed: () => {
        if (!readOnly) owners.delete(file);
        tellClosed();
      },
    },
  );
  scope.own(() => database.close());
  return database;
}

function refuseOwned(file: string, owner: DatabaseOwner | undefined, scope: Scope): void {
  if (owner === undefined) return;
  const { plugin } = owner.scope;
  if (plugin !== scope.plugin) throw new NameTaken(`the database ${file} of ${scope.plugin}`, 'owned', plugin);
  if (owner.scope !== scope) throw new DatabaseInUse(file, owner);
  throw new Error(`${file} is the database of ${plugin} already`);
}

/** The options with their defaults. A file that the plugin names keeps its modes, and so do the directories above. */
function threadOptions(options: DatabaseOptions, file: string, configDir: string) {
  const hasOwnPlace = options.file !== undefined;
  return {
    root: hasOwnPlace ? path.dirname(path.dirname(file)) : configDir,
    keepModes: hasOwnPlace,
    readOnly: options.readOnly ?? false,
    synchronous: options.synchronous ?? 'normal',
    onCorrupt: options.onCorrupt ?? 'refuse',
    busyTimeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS,
    pageBytes: options.pageBytes,
    canShrink: options.canShrink ?? false,
    maxBytes: options.maxBytes ?? MAX_BYTES,
  };
}
