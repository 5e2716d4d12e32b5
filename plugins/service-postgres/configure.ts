// Prepares the database server before a launch: its data directory, password, socket directory and settings.
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '#core';
import type { ServiceFileAccess } from '../config-files/contract.ts';
import type { SetupContext } from '../setup/contract.ts';
import { handOver, hasData, initialise, isUnfinished, putAside } from './data-directory.ts';

/** Creates the data directory if it is missing, and writes the settings. Throws a Problem that says what failed. */
export async function configureServer(
  context: SetupContext,
  files: ServiceFileAccess | undefined,
  log: Logger,
): Promise<void> {
  const { plan, block, owner, fill, makeDirectory } = context;
  const [program = ''] = plan.argv;
  const directory = plan.cwd;
  if (directory === undefined) return;
  if ((await hasData(directory)) && (await isUnfinished(directory))) {
    const aside = await putAside(directory, owner);
    log.warn(`${block.processName}: initdb was interrupted in ${directory}; what it left is in ${aside}, remove it`);
  }
  if (!(await hasData(directory))) {
    await handOver(directory, owner);
    await initialise({
      directory,
      initdb: path.join(path.dirname(program), 'initdb'),
      user: String(block.block.user),
      password: await passwordOf(context),
      extra: String(block.block.initdb_args ?? '')
        .split(/\s+/)
        .filter(Boolean),
      owner,
      signal: plan.signal,
    });
    log.info(`${block.processName}: a data directory was made in ${directory}`);
  }
  const wanted = fill('{run_directory}');
  await makeDirectory(wanted, 0o775);
  const sockets = (await mayWrite(wanted, owner)) ? wanted : directory;
  if (sockets !== wanted)
    log.info(`${block.processName}: ${wanted} belongs to another server; sockets are in ${sockets}`);
  await files?.ensure(block, fill('{config_file}'), {
    seed: undefined,
    values: {
      port: String(block.block.port),
      listen_addresses: String(block.block.host ?? '127.0.0.1'),
      unix_socket_directories: sockets,
      shared_buffers: String(block.block.shared_buffers),
      max_connections: String(block.block.max_connections),
    },
    initial: {},
    mode: 0o600,
    owner,
  });
}

/**
 * Whether the server's user may write to the socket directory, which may belong to a server of the operating system.
 */
async function mayWrite(directory: string, owner: SetupContext['owner']): Promise<boolean> {
  const { uid, gid } = owner ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const found = await stat(directory);
  const bits = found.uid === uid ? 0o300 : found.gid === gid ? 0o030 : 0o003;
  return (found.mode & bits) === bits;
}

/** Generates a password for a new data directory, because the template's would be the same in every installation. */
async function passwordOf({ block, template, store }: SetupContext): Promise<string> {
  const stored = String(block.block.password ?? '');
  if (stored !== '' && stored !== template.block.password) return stored;
  const password = randomBytes(24).toString('base64url');
  await store({ password });
  return password;
}
