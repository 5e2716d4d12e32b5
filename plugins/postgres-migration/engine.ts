// The parts that run migrations and bring interrupted ones to their end. They are loaded on use.
import type { JobRecord } from './job.ts';
import { Leftovers } from './leftovers.ts';
import type { MigrationContext } from './migration-context.ts';
import { Migrations } from './migrations.ts';
import { Recovery } from './recovery.ts';
import { Server } from './server.ts';
import { SqliteSources } from './sqlite-source.ts';

export interface Engine {
  readonly migrations: Migrations;
  readonly leftovers: Leftovers;
  readonly recovery: Recovery;
}

/** `interrupted` are the jobs that were active when an earlier host ended. */
export function openEngine(
  given: Omit<MigrationContext, 'server' | 'sources'>,
  interrupted: readonly JobRecord[],
): Engine {
  const context = { ...given, server: new Server(given.host), sources: new SqliteSources() };
  const leftovers = new Leftovers(context);
  const migrations = new Migrations(context, leftovers);
  return { migrations, leftovers, recovery: new Recovery(context, { migrations, leftovers }, interrupted) };
}
