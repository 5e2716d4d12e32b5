// Tells pgAdmin where the programs are with which it saves and restores databases, such as `pg_dump`. Source of the
// setting: config.py of pgAdmin.
import type { NamedBlock } from '#core';
import type { ServiceFileAccess } from '../config-files/contract.ts';
import type { PostgresServer } from '../service-postgres/contract.ts';
import type { SetupContext } from '../setup/contract.ts';

interface Told {
  readonly server: PostgresServer;
  readonly files: ServiceFileAccess;
  readonly block: NamedBlock;
  readonly file: string;
  readonly owner: SetupContext['owner'];
}

/** Directories for single versions in the file stay. Throws a Problem when the file computes its values. */
export async function tellPrograms({ server, files, block, file, owner }: Told): Promise<void> {
  const programs = await server.programs();
  if (programs === undefined) return;
  const values = { DEFAULT_BINARY_PATHS: { pg: programs } };
  await files.ensure(block, file, { seed: undefined, values, initial: {}, mode: 0o600, owner });
}
