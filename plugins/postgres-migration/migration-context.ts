// The objects that all parts of a migration share.
import type { ContributionList, Host } from '#core';
import type { ConfigGuard } from './config-guard.ts';
import type { MigrationService } from './contract.ts';
import type { JobFiles } from './job-files.ts';
import type { Places } from './places.ts';
import type { Server } from './server.ts';
import type { SqliteSources } from './sqlite-source.ts';

export interface MigrationContext {
  readonly host: Host;
  readonly services: ContributionList<MigrationService>;
  readonly files: JobFiles;
  readonly places: Places;
  readonly server: Server;
  readonly sources: SqliteSources;
  readonly guard: ConfigGuard;
}
