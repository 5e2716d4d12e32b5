// What the plugin of one application of the Arr family says of it, where the facts of the family are not enough.
import type { MigrationService } from '../postgres-migration/contract.ts';

export interface ArrMigration {
  /** Its databases and variables are called after it. */
  readonly configKey: string;
  /** The first version of the program that knows PostgreSQL; undefined where every one does. */
  readonly minimumVersion?: string;
  /** Its main database in SQLite, as in a `MigratedDatabase`. Default: the file called after it in its directory. */
  readonly files?: readonly string[];
  /** Tables whose numbers of rows are shown. */
  readonly keyTables: readonly string[];
}

export interface ArrMigrations {
  /** For `migration.service`. */
  serviceOf(migration: ArrMigration): MigrationService;
}

declare module '#core' {
  interface Services {
    /** How the applications of the Arr family move to PostgreSQL: what they have in common. */
    'migration.arr': ArrMigrations;
  }
}
