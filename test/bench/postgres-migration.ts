// Transfers a SQLite file to PostgreSQL, with validation: rows per second, processor time per row including the
// server's, and memory. The baselines are pgloader and a loop of single inserts, with the same file and server. The
// transfer runs from the build, as for users. `--millions 10` sets the number of values; a run with a hundred million
// takes minutes.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
// @ts-expect-error it is loaded before TypeScript is
import { startFromBuild } from '../runner/built-threads.mjs';
import { programOf } from '../support/debian.ts';
import { startPostgres } from '../support/postgres.ts';
import { run, sqliteFile, taskOf } from '../support/transfer.ts';
import { printFigure } from './support/figures.ts';

const execute = promisify(execFile);
const COLUMNS = 10;
const RUNS = 3;
/** From so many values on there is only one run, because it takes minutes. */
const ONE_RUN_FROM = 100_000_000;
/** More rows would not change the time that the loop of inserts needs per row. */
const LOOP_ROWS = 100_000;
/** The unit in which the kernel reports processor time. */
const MS_PER_TICK = 10;
const US_PER_MS = 1_000;
const DATABASE = 'history';
const LOOK_MS = 50;
const TABLE = `CREATE TABLE "History" ("Id" integer PRIMARY KEY, "EpisodeId" integer NOT NULL, "SeriesId" integer NOT NULL,
  "SourceTitle" text NOT NULL, "Date" timestamp NOT NULL, "Quality" text NOT NULL, "Data" text NOT NULL,
  "EventType" integer, "DownloadId" text, "Languages" text NOT NULL)`;

interface Sample {
  readonly rowsPerS: number;
  readonly cpuUsPerRow: number;
  readonly megabytes: number;
}

startFromBuild(fileURLToPath(new URL('../../dist', import.meta.url)));

const option = process.argv.indexOf('--millions');
const values = (option < 0 ? 1 : Number(process.argv[option + 1])) * 1_000_000;
const rows = values / COLUMNS;
const runs = values < ONE_RUN_FROM ? RUNS : 1;
const place = await mkdtemp(path.join(os.tmpdir(), 'stackwarden-bench-'));
const ends: (() => unknown)[] = [];
const fixtures = { testdir: () => place, teardown: (end: () => unknown) => void ends.unshift(end) };

function makeSource(): string {
  return sqliteFile(place, 'history.db', db => {
    db.exec(TABLE);
    const insert = db.prepare(`INSERT INTO "History" VALUES (${Array(COLUMNS).fill('?').join()})`);
    db.transaction(() => {
      for (let id = 1; id <= rows; id += 1) {
        const title = `Some.Show.S0${id % 9}E${id % 20}.1080p.WEB-DL.x264`;
        const date = `2025-0${1 + (id % 9)}-1${id % 9} 10:11:12.${1_000_000 + (id % 1_000_000)}`;
        const data = `{\n  "indexer": "one",\n  "nzbInfoUrl": "http://example.org/${id}"\n}`;
        insert.run(
          id,
          id % 5_000,
          id % 300,
          title,
          date,
          '{"quality":3}',
          data,
          id % 4,
          `${id}`.padStart(36, 'a'),
          '[1]',
        );
      }
    })();
  });
}

/** The peak resident memory of the newest living child of this process. */
async function peakMegabytes(): Promise<number> {
  const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
  const status = await readFile(`/proc/${children.trim().split(' ').at(-1)}/status`, 'utf8').catch(() => '');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024;
}

/** Processor time of this process, of its descendants, and of those that have ended and were waited for. */
async function cpuMs(): Promise<number> {
  const usedMs = new Map<string, number>();
  const parents = new Map<string, string>();
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    parents.set(pid, fields[1] ?? '');
    usedMs.set(pid, fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK);
  }
  const isBelow = (pid: string | undefined): boolean =>
    pid !== undefined && (pid === String(process.pid) || isBelow(parents.get(pid)));
  return [...usedMs].reduce((sum, [pid, ms]) => (isBelow(pid) ? sum + ms : sum), 0);
}

async function measure(count: number, work: () => Promise<unknown>): Promise<Sample> {
  const usedMs = await cpuMs();
  const startedMs = performance.now();
  let megabytes = 0;
  const look = setInterval(async () => {
    megabytes = Math.max(megabytes, await peakMegabytes());
  }, LOOK_MS);
  await work();
  clearInterval(look);
  const rowsPerS = (count * 1_000) / (performance.now() - startedMs);
  return { rowsPerS, cpuUsPerRow: (((await cpuMs()) - usedMs) * US_PER_MS) / count, megabytes };
}

const server = await startPostgres(fixtures as never);
try {
  const file = makeSource();
  const client = await server.create(DATABASE, TABLE);
  const { host, port, user } = server.access;
  const pgloader = await programOf(['pgloader'], ['pgloader']);
  const commands = path.join(place, 'pgloader.load');
  await writeFile(
    commands,
    `LOAD DATABASE FROM sqlite://${file} INTO postgresql://${user}@${host}:${port}/${DATABASE}
     WITH data only, truncate, quote identifiers SET timezone TO 'UTC';`,
  );

  const transfer = () => run(taskOf(server, file, DATABASE));
  const load = () => execute(pgloader, ['--quiet', '--root-dir', path.join(place, 'pgloader'), commands]);
  const insertEach = async (): Promise<void> => {
    const source = new Database(file, { readonly: true });
    await client.query('BEGIN; TRUNCATE "History"');
    const text = `INSERT INTO "History" VALUES (${Array.from({ length: COLUMNS }, (_, index) => `$${index + 1}`).join()})`;
    for (const values of source.prepare(`SELECT * FROM "History" LIMIT ${LOOP_ROWS}`).raw().iterate())
      await client.query({ name: 'insert', text, values: values as unknown[] });
    await client.query('COMMIT');
    source.close();
  };

  const ours: Sample[] = [];
  const theirs: Sample[] = [];
  for (let index = 0; index < runs; index += 1) {
    ours.push(await measure(rows, transfer));
    theirs.push(await measure(rows, load));
  }
  const { rows: counted } = await client.query<{ count: number }>('SELECT count(*)::int FROM "History"');
  if (counted[0]?.count !== rows) throw new Error(`pgloader has brought ${counted[0]?.count} of ${rows} rows`);
  const loop = await measure(Math.min(rows, LOOP_ROWS), insertEach);
  const perS = (samples: readonly Sample[]): number[] => samples.map(({ rowsPerS }) => rowsPerS);
  const unit = 'rows a second';
  const name = `postgres migration of ${rows} rows`;
  printFigure({ name: `${name}, to pgloader`, unit, runs: perS(ours), baseline: perS(theirs) });
  printFigure({ name: `${name}, to a loop of inserts`, unit, runs: perS(ours), baseline: perS([loop]) });
  const cpu = (samples: readonly Sample[]): number[] => samples.map(({ cpuUsPerRow }) => cpuUsPerRow);
  printFigure({ name, unit: 'us of CPU a row, to pgloader', runs: cpu(ours), baseline: cpu(theirs) });
  const memory = (samples: readonly Sample[]): number[] => samples.map(({ megabytes }) => megabytes);
  printFigure({ name, unit: 'MB at most, to pgloader', runs: memory(ours), baseline: memory(theirs) });
} finally {
  for (const end of ends) await end();
  await rm(place, { recursive: true, force: true });
}
