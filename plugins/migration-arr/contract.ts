// The facts in which the applications of the Arr family differ when they move to PostgreSQL.
import type { MigrationService } from '../postgres-migration/contract.ts';

export interface ArrMigration {
  /** Databases and variables of the application are named after this key. */
  readonly configKey: string;
  /** The first version of the program that knows PostgreSQL; undefined when every version does. */
  readonly minimumVersion?: string;
  /** Places of the main database in SQLite, as in a `MigratedDatabase`. Default: `{config_dir}/<configKey>.db`. */
  readonly files?: readonly string[];
  /** Tables whose row counts are shown to users. */
  readonly keyTables: readonly string[];
}

export interface ArrMigrations {
  /** The facts of an application, as `migration.service` takes them. */
  serviceOf(migration: ArrMigration): MigrationService;
}

declare module '#core' {
  interface Services {
    /** What the applications of the Arr family have in common when they move to PostgreSQL. */
    'migration.arr': ArrMigrations;
  }
}
