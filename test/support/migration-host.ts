// Starts a host in a process of its own that kills itself right before or right after a certain save of a job file.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hostProgram } from './host-program.ts';
import { withNeeds } from './needs.ts';
import { ACTIVE, type Body, NAME, PLUGINS, PREFIX, type Stack } from './postgres-migration.ts';
import { until } from './until.ts';

const PACE = 0.02;

/** `holds` is a text that the saved file contains for the first time. */
export interface KillPoint {
  readonly when: 'before' | 'after';
  readonly holds: string;
}

interface Options {
  readonly configDir: string;
  readonly plugins: readonly string[];
  readonly pace: number;
  readonly kill?: KillPoint;
}

export interface MigrationHost {
  readonly child: ChildProcess;
  readonly base: string;
  readonly exited: Promise<void>;
  output(): string;
}

/** Resolves when the host answers or has ended. The host ends with this process at the latest. */
export async function startMigrationHost(options: Options): Promise<MigrationHost> {
  const plugins = await withNeeds(options.plugins);
  const child = spawn(process.execPath, hostProgram({ ...options, plugins, listen: { port: 0 } }), {
    env: { ...process.env, NODE_OPTIONS: '', TAP: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (): void => void child.kill('SIGTERM');
  process.once('exit', end);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  let isGone = false;
  const exited = new Promise<void>(resolve => {
    child.once('close', () => {
      isGone = true;
      process.off('exit', end);
      resolve();
    });
  });
  const find = () => /^at (http:\S+)$/m.exec(output)?.[1];
  await until(() => isGone || find(), { what: 'the host to answer', timeoutMs: 120_000 });
  return { child, base: find() ?? '', exited, output: () => output };
}

/** Writes the configuration of the stack. Gives a function that starts a host with it. */
export async function stackHosts({ configDir, config }: Stack): Promise<(kill?: KillPoint) => Promise<MigrationHost>> {
  const dumb = { ...(config.dumb as object), log_dir: path.join(configDir, 'log'), gateway: { enabled: false } };
  const written = { puid: 65_534, pgid: 65_534, ...config, dumb };
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify(written));
  await mkdir(path.join(configDir, 'log'));
  return kill =>
    startMigrationHost({ configDir, plugins: PLUGINS, pace: PACE, ...(kill === undefined ? {} : { kill }) });
}

export const get = async (host: MigrationHost, place: string): Promise<Body> => (await fetch(host.base + place)).json();

export async function post(host: MigrationHost, place: string, body: unknown): Promise<Body> {
  const answer = await fetch(host.base + place, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return answer.json();
}

/** Resolves when the host has killed itself; one that does not is ended after four minutes. */
export async function killed({ child, exited }: MigrationHost): Promise<void> {
  const limit = setTimeout(() => child.kill('SIGTERM'), 240_000);
  await exited;
  clearTimeout(limit);
}

/** The request that rolls a job back. */
export const rollback = ({ job_id }: Body) => ({ job_id, confirmation: `ROLLBACK ${NAME}` });

/** The latest job of the service once it has ended. */
export async function ended(host: MigrationHost): Promise<Body> {
  return until(
    async () => {
      const answer = await get(host, `${PREFIX}/latest?process_name=${NAME}`);
      return answer.job !== null && !ACTIVE.includes(answer.job.status) && answer;
    },
    { what: 'the end of the migration', timeoutMs: 240_000, intervalMs: 200 },
  );
}

/** Resolves when everything runs and answers. */
export async function settled(host: MigrationHost): Promise<void> {
  for (const name of ['PostgreSQL', NAME])
    await until(
      async () =>
        (await get(host, `/process/service-status?process_name=${name}&include_health=true`)).healthy === true,
      { what: `${name} to be healthy: ${host.output().slice(-2_000)}`, timeoutMs: 120_000, intervalMs: 100 },
    );
}
