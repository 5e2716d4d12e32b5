// Starts a host that examines the real databases of a media manager.
import { chmod, chown, mkdir } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import type { Test } from 'tap';
import { testDir } from './directory.ts';
import { startHost, type TestHost } from './host.ts';
import { until } from './until.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into
export type HealthBody = any;

const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;

/** Creates a directory, owned by the services' user, for the databases of a media manager, and a block for it. */
export async function filmPlace(t: Test): Promise<{ dir: string; main: string; log: string; block: object }> {
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  const own = path.join(dir, 'own');
  await mkdir(own);
  if (isRoot) await chown(own, NOBODY, NOBODY);
  const log = path.join(own, 'radarr.txt');
  const block = { enabled: true, process_name: 'Films', config_dir: own, log_file: log, command: ['true'] };
  return { dir: own, main: path.join(own, 'radarr.db'), log, block };
}

export async function give(...files: readonly string[]): Promise<void> {
  if (isRoot) for (const file of files) await chown(file, NOBODY, NOBODY);
}

export function makeDatabase(file: string, mode = 'wal'): Database.Database {
  const db = new Database(file);
  db.pragma(`journal_mode = ${mode}`);
  db.exec('CREATE TABLE films (title TEXT)');
  db.prepare('INSERT INTO films VALUES (?)').run('a film');
  return db;
}

export async function startHealth(t: Test, block: object, settings: object = {}, more: object = {}): Promise<TestHost> {
  const services = { 'radarr:Default': { enabled: true, mode: 'enhanced', ...settings } };
  const app = await startHost({
    plugins: ['database-health', 'services', 'config'],
    config: {
      radarr: { instances: { Default: block } },
      dumb: { metrics: { database_health: { enabled: true, services, interval_sec: 3_600, ...more } } },
    },
  });
  t.teardown(() => app.stop());
  return app;
}

/** The service's entry after a new examination. */
export async function freshHealth(app: TestHost): Promise<HealthBody> {
  return until(async () => {
    const { status, body } = await app.get('/metrics/database-health?process_name=Films&refresh=true');
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.services[0]?.pressure !== 'collecting' && body.services[0];
  });
}

export const firstDatabase = async (app: TestHost): Promise<HealthBody> => (await freshHealth(app)).databases[0];
