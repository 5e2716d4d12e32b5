// What a plugin tells about a service whose SQLite databases can move to PostgreSQL: facts alone, since this plugin
// does the work.

/** A database of the service, with its file in SQLite and its name in PostgreSQL. */
export interface MigratedDatabase {
  readonly label: 'main' | 'log';
  /** Places of its SQLite file, with `{config_dir}` and `{data}`. If several exist, the one written last counts. */
  readonly files: readonly string[];
  /** Option of the block that holds the name in PostgreSQL. */
  readonly option: string;
  /** Default name in PostgreSQL, for the first instance. */
  readonly name: string;
  /** Default name for every other instance; `<slug>` stands for the name of the instance. */
  readonly instanceName: string;
  /** Setting of the service that holds the name too. It counts when the option is empty. */
  readonly setting?: string;
}

/** Where a program keeps its data: a directory, or the file of its database. */
export interface DataPlace {
  /** Argument of the command whose value is the place. */
  readonly argument?: string;
  /** Environment variable that holds the place. */
  readonly variable?: string;
  /** The place when neither of them says it, with `{config_dir}`. */
  readonly otherwise: string;
}

/**
 * How the tables are made: by a helper, which is either a second, empty instance of the program or a script that comes
 * with it. The helper touches nothing of the service. In values, `{data}` is a new directory, `{port}` a free port and
 * `{key}` a new secret.
 */
export interface SchemaHelper {
  /**
   * Arguments of the command by their name, which ends with `=` where the value belongs to the same word: those that
   * the command has are replaced, the others are added.
   */
  readonly arguments?: Readonly<Record<string, string>>;
  /** Further arguments, unless the command has them. */
  readonly flags?: readonly string[];
  /** Arguments that replace all others and run a script, which makes the tables and ends with code 0. */
  readonly script?: readonly string[];
  /**
   * Whether the helper runs in the working directory of the service, because it names files relative to it. Otherwise
   * it runs in `{data}`.
   */
  readonly isInPlace?: boolean;
  /** Variables that the helper gets, beside those that point it at PostgreSQL. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The helper does not get variables of the service whose names begin with this, in upper case. */
  readonly withoutVariables: string;
  /** Values that the helper's copy of the service's settings gets, by their name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The setting that says whether the database of the label `log` is used. */
  readonly logSetting?: string;
  /** Text of the helper's settings file, in place of a copy of the service's. */
  readonly settingsText?: string;
  /** Path that answers with 200 once the instance is up and its tables are made. A script has none. */
  readonly readyPath?: string;
}

/**
 * A service whose SQLite databases can move to PostgreSQL. The program is pointed at PostgreSQL either by `settings` in
 * its file or by `variables`. In both, `{host}`, `{port}`, `{user}` and `{password}` stand for those of the server,
 * `{main}` and `{log}` for the names of the databases.
 */
export interface MigrationService {
  readonly configKey: string;
  /** Where the program keeps its data. Default: `config_dir` of the block. */
  readonly data?: DataPlace;
  /** The first has the label `main`. */
  readonly databases: readonly MigratedDatabase[];
  /** The first version of the program that knows PostgreSQL. */
  readonly minimumVersion?: string;
  /** The table in which the program records the versions of its schema. It is read, and never copied. */
  readonly versions: {
    readonly table: string;
    readonly column: string;
    /**
     * What the records in SQLite and in PostgreSQL share when the tables fit: the `highest` number (default), `all`
     * names, or `nothing` when the program names its versions differently on each side.
     */
    readonly common?: 'highest' | 'all' | 'nothing';
  };
  /** Further tables for the program's schema updates, such as their locks, which are never copied either. */
  readonly bookkeeping?: readonly string[];
  /** Tables whose row counts are shown to users. */
  readonly keyTables: readonly string[];
  /** Variables whose names begin with one of these, in upper case, would override the settings or variables below. */
  readonly overridingVariables: readonly string[];
  /** Settings file of the program, relative to its data. */
  readonly settingsFile?: string;
  /** Element of the settings file that holds the settings; without it they are the whole file. */
  readonly settingsRoot?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * The template of the service sets these variables for a block with `postgres_enabled`, so the migration writes none
   * of them.
   */
  readonly variables?: Readonly<Record<string, string>>;
  readonly helper: SchemaHelper;
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
    /** A service was moved from SQLite to PostgreSQL. A rehearsal does not raise this event. */
    'migration.succeeded': MigrationEvent;
    /** A move of a service to PostgreSQL, a rehearsal or a rollback has failed or was interrupted. */
    'migration.failed': MigrationEvent;
  }
  interface Contributions {
    /** A service whose SQLite databases can move to PostgreSQL. */
    'migration.service': MigrationService;
  }
}
