// What a plugin says of a service whose SQLite databases can move to PostgreSQL. Facts alone: everything is done here.

/** A database of the service, and what it is called on either side. */
export interface MigratedDatabase {
  readonly label: 'main' | 'log';
  /**
   * Its file in SQLite, with `{config_dir}` and `{data}`; of several that exist the one that was written last counts.
   */
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

/** Where a program keeps its data: a directory, or the file of its database. */
export interface DataPlace {
  /** The argument of its command that is followed by it. */
  readonly argument?: string;
  /** The variable that holds it. */
  readonly variable?: string;
  /** Where neither says it, with `{config_dir}`. */
  readonly otherwise: string;
}

/**
 * How the tables are made: by a second, empty instance of the program, or by a script that comes with it. Neither
 * touches anything of the service. In values, `{data}` is a new directory, `{port}` a free port and `{key}` a new
 * secret.
 */
export interface SchemaHelper {
  /**
   * Arguments of the command by their name, which ends with `=` where the value belongs to the same word: those that
   * the command has are replaced, the others are added.
   */
  readonly arguments?: Readonly<Record<string, string>>;
  /** Further arguments, unless the command has them. */
  readonly flags?: readonly string[];
  /** What the program is given instead of its arguments, where that makes the tables and then ends with code 0. */
  readonly script?: readonly string[];
  /** Whether it names files relative to the working directory of the service. Otherwise it works in `{data}`. */
  readonly isInPlace?: boolean;
  /** Variables that it gets, beside those that point it at PostgreSQL. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Beginning of the variables of the service that it does not get, in upper case. */
  readonly withoutVariables: string;
  /** Values of a copy of the service's settings, by their name. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The setting that says whether the database of the label `log` is used. */
  readonly logSetting?: string;
  /** Text of its file of settings, instead of a copy. */
  readonly settingsText?: string;
  /** Answers with 200 once an instance is up and its tables are made. A script has none. */
  readonly readyPath?: string;
}

/**
 * A service whose SQLite databases can move to PostgreSQL. It is pointed at them by `settings` in its file, or by
 * `variables`. In both, `{host}`, `{port}`, `{user}` and `{password}` are the server's, `{main}` and `{log}` its
 * databases.
 */
export interface MigrationService {
  readonly configKey: string;
  /** Default: `config_dir` of the block. */
  readonly data?: DataPlace;
  /** The first has the label `main`. */
  readonly databases: readonly MigratedDatabase[];
  /** The first version of the program that knows PostgreSQL. */
  readonly minimumVersion?: string;
  /** Where the program notes which versions of its schema it has made. It is read, and never copied. */
  readonly versions: {
    readonly table: string;
    readonly column: string;
    /**
     * What both sides have in common when their tables fit: the `highest` number, which is the default, `all` of the
     * names, or `nothing`, where the program names the versions of either otherwise.
     */
    readonly common?: 'highest' | 'all' | 'nothing';
  };
  /** Further tables of that kind, which are never copied either. */
  readonly bookkeeping?: readonly string[];
  /** Tables whose numbers of rows are shown. */
  readonly keyTables: readonly string[];
  /** Beginnings of variables, in upper case, that would win over what points it at PostgreSQL. */
  readonly overridingVariables: readonly string[];
  /** Its file of settings, relative to its data. */
  readonly settingsFile?: string;
  /** The element of the file that holds them; without it they are the whole file. */
  readonly settingsRoot?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Its template sets them for a block with `postgres_enabled`, so that none of them is written down. */
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
