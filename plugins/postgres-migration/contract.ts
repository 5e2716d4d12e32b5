// What a plugin says of a service whose SQLite databases can move to PostgreSQL. Facts alone: everything is done here.

/** A database of the service, and what it is called on either side. */
export interface MigratedDatabase {
  readonly label: 'main' | 'log';
  /** Its file in SQLite, with `{config_dir}`; of several that exist the one that was written last counts. */
  readonly files: readonly string[];
  /** Option of the block that names it in PostgreSQL. */
  readonly option: string;
  /** Name in PostgreSQL where nothing else says it, of the first instance. */
  readonly name: string;
  /** The same for every other instance, with `<slug>` for the name of that. */
  readonly instanceName: string;
  /** Where the settings of the service name it too. */
  readonly setting?: string;
}

/** How a second, empty instance of the program is started that makes its tables, and touches nothing of the first. */
export interface HelperInstance {
  /**
   * Arguments of the command by their name, which ends with `=` where the value belongs to the same word: those that the
   * command has are replaced, the others are added. `{data}` is the directory of the helper, `{port}` its port.
   */
  readonly arguments: Readonly<Record<string, string>>;
  /** Further arguments, unless the command has them. */
  readonly flags?: readonly string[];
  /** Values of a copy of the service's settings, by their name: also `{key}`, a new secret. */
  readonly settings: Readonly<Record<string, string>>;
  /** The setting that says whether the database of the label `log` is used. */
  readonly logSetting?: string;
  /** Beginning of the variables that the helper does not get, in upper case. */
  readonly withoutVariables: string;
  /** Answers with 200 once the program is up. */
  readonly readyPath: string;
}

/** A service whose SQLite databases can move to PostgreSQL. */
export interface MigrationService {
  readonly configKey: string;
  /** The first has the label `main`. */
  readonly databases: readonly MigratedDatabase[];
  /** The first version of the program that knows PostgreSQL. */
  readonly minimumVersion?: string;
  /** Where the program notes which versions of its schema it has made. It is read, and never copied. */
  readonly versions: { readonly table: string; readonly column: string };
  /** Tables whose numbers of rows are shown. */
  readonly keyTables: readonly string[];
  /** Beginning of the variables that would win over the settings, in upper case. */
  readonly overridingVariables: string;
  /** The file of settings, relative to the directory of the program's data. */
  readonly settingsFile: string;
  /** The element of the settings that holds them. */
  readonly settingsRoot: string;
  /** Settings that point the program at PostgreSQL: `{host}`, `{port}`, `{user}`, `{password}`, `{main}` and `{log}`. */
  readonly settings: Readonly<Record<string, string>>;
  readonly helper: HelperInstance;
}

export interface MigrationEvent {
  readonly processName: string;
  readonly jobId: string;
  readonly mode: 'rehearsal' | 'cutover';
  readonly status: string;
  /** A sentence for people. */
  readonly message: string;
}

declare module '#core' {
  interface Events {
    /** A service was moved from SQLite to PostgreSQL. Rehearsals are not told. */
    'migration.succeeded': MigrationEvent;
    /** A move of a service to PostgreSQL, its rehearsal or the way back has failed, or was cut off. */
    'migration.failed': MigrationEvent;
  }
  interface Contributions {
    /** A service whose SQLite databases can move to PostgreSQL. */
    'migration.service': MigrationService;
  }
}
