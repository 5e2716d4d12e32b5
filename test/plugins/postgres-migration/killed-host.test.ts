// A host that is killed around each step of a migration: at its next start the service has complete data, and nothing
// remains. With STACKWARDEN_TEST_ROUNDS each kind of kill is repeated so often.
import { appendFile, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { CHECKPOINTS } from '../../../plugins/postgres-migration/job.ts';
import {
  ended,
  type KillPoint,
  killed,
  type MigrationHost,
  post,
  rollback,
  settled,
  stackHosts,
} from '../../support/migration-host.ts';
import { makeStack, PREFIX, request, type Stack } from '../../support/postgres-migration.ts';
import { randomNumbers, rounds } from '../../support/rounds.ts';
import { until } from '../../support/until.ts';

interface Kill {
  readonly what: string;
  readonly mode: 'rehearsal' | 'cutover' | 'rollback';
  readonly point: KillPoint;
  /** States in which the job may end. */
  readonly ends: readonly string[];
  /** Whether the backup is altered before the next start. */
  readonly isAltered?: true;
}

const at = (checkpoint: string): string => `"rollback_checkpoint":"${checkpoint}"`;
const status = (name: string): string => `"status":"${name}"`;
/** The end of a job that had reached this step. */
const END_AFTER: Readonly<Record<string, string>> = {
  schema_ready: 'interrupted',
  service_stopped: 'interrupted',
  service_started: 'completed',
  healthy: 'completed',
};
const endAfter = (checkpoint: string | undefined): string =>
  checkpoint === undefined ? 'interrupted' : (END_AFTER[checkpoint] ?? 'failed_rolled_back');

const kills: readonly Kill[] = [
  ...CHECKPOINTS.flatMap((checkpoint, index): Kill[] => [
    {
      what: `before ${checkpoint}`,
      mode: 'cutover',
      point: { when: 'before', holds: at(checkpoint) },
      ends: [endAfter(CHECKPOINTS[index - 1])],
    },
    {
      what: `after ${checkpoint}`,
      mode: 'cutover',
      point: { when: 'after', holds: at(checkpoint) },
      ends: [endAfter(checkpoint)],
    },
  ]),
  { what: 'queued', mode: 'cutover', point: { when: 'after', holds: status('queued') }, ends: ['interrupted'] },
  { what: 'finalizing', mode: 'cutover', point: { when: 'after', holds: status('finalizing') }, ends: ['completed'] },
  { what: 'a rehearsal', mode: 'rehearsal', point: { when: 'after', holds: '"helper":{' }, ends: ['interrupted'] },
  { what: 'an import', mode: 'rehearsal', point: { when: 'after', holds: '"stage":"import"' }, ends: ['interrupted'] },
  {
    what: 'rolling back',
    mode: 'rollback',
    point: { when: 'after', holds: status('rolling_back') },
    ends: ['rolled_back'],
  },
  {
    what: 'rolled back',
    mode: 'rollback',
    point: { when: 'before', holds: status('rolled_back') },
    ends: ['rolled_back'],
  },
  {
    what: 'an altered backup',
    mode: 'cutover',
    point: { when: 'after', holds: at('import_validated') },
    ends: ['interrupted'],
    isAltered: true,
  },
];

t.test('the next host brings every interrupted migration to its end', async t => {
  const stack = await makeStack(t);
  const open = await stackHosts(stack);
  const first = await open();
  await settled(first);
  const before = await stack.data();
  const source = stack.source();
  first.child.kill('SIGKILL');
  await first.exited;

  const random = randomNumbers(t);
  const repeats = rounds(1);
  for (let round = 0; round < repeats; round += 1) {
    // With many rounds, each kind of kill comes equally often.
    const kill = kills[repeats < kills.length ? random(kills.length) : round % kills.length];
    if (kill === undefined) throw new Error('no kill');
    await killAndRecover(t, stack, { kill, open, before, source });
  }
  const last = await open();
  await settled(last);
  last.child.kill('SIGTERM');
  await last.exited;
});

interface Round {
  readonly kill: Kill;
  readonly open: (kill?: KillPoint) => Promise<MigrationHost>;
  readonly before: Awaited<ReturnType<Stack['data']>>;
  readonly source: string;
}

async function killAndRecover(t: Test, stack: Stack, { kill, open, before, source }: Round): Promise<void> {
  const { what, mode, point, ends } = kill;
  const doomed = await open(point);
  await settled(doomed);
  const settings = await readFile(path.join(stack.home, 'config.xml'), 'utf8');
  const asked = request(mode === 'rehearsal' ? 'rehearsal' : 'cutover');
  const answer = await post(doomed, `${PREFIX}/start`, asked).catch(() => undefined);
  t.equal(answer?.detail, undefined, `${what}: begun`);
  if (mode === 'rollback') {
    const { job } = await ended(doomed);
    t.equal(job.status, 'completed', `${what}: moved before`);
    await post(doomed, `${PREFIX}/rollback`, rollback(job)).catch(() => undefined);
  }
  await killed(doomed);
  t.equal(doomed.child.signalCode, 'SIGKILL', `${what}: killed`);

  const backups = path.join(stack.configDir, 'arr-postgres-migration', 'backups', 'sonarr');
  const newest = (await readdir(backups).catch(() => [])).sort().at(-1) ?? '';
  if (kill.isAltered) await appendFile(path.join(backups, newest, 'sqlite-main.db'), 'x');
  const next = await open();
  const { job } = await ended(next);
  t.ok(ends.includes(job.status), `${what}: ${job.status} is one of ${ends.join(', ')}: ${JSON.stringify(job.error)}`);
  await settled(next);
  const isMoved = job.status === 'completed';
  const keepsDatabases = isMoved || mode === 'rollback';
  t.same(await stack.data(), { ...before, engine: isMoved ? 'postgres' : 'sqlite' }, `${what}: whole data`);
  t.equal(stack.source(), source, `${what}: the SQLite file is as it was`);
  if (kill.isAltered) {
    t.equal(job.rollback_available, false);
    t.ok(job.error.message.includes(newest), 'the backup is named');
    for (const name of await leftovers(stack, keepsDatabases))
      await stack.query(`DROP DATABASE "${name}" WITH (FORCE)`);
  }
  await until(async () => (await leftovers(stack, keepsDatabases)).length === 0).catch(async () =>
    t.same(await leftovers(stack, keepsDatabases), [], `${what}: nothing left behind`),
  );
  if (isMoved) {
    t.equal(job.result.validated, true);
    const undone = await post(next, `${PREFIX}/rollback`, rollback(job));
    t.equal(undone.status, 'rolled_back', JSON.stringify(undone.detail));
    t.same(await stack.data(), before, `${what}: back again`);
  }
  for (const name of keepsDatabases ? ['sonarr-main', 'sonarr-log'] : [])
    await stack.query(`DROP DATABASE "${name}" WITH (FORCE)`);
  t.equal(await readFile(path.join(stack.home, 'config.xml'), 'utf8'), settings, `${what}: its settings`);
  next.child.kill('SIGKILL');
  await next.exited;
}

/** Databases, directories and processes that a migration has created for itself. */
async function leftovers(stack: Stack, keepsDatabases: boolean): Promise<string[]> {
  const names = keepsDatabases ? '^(stage|prev)_' : '^(stage_|prev_|sonarr-)';
  const rows = await stack.query(`SELECT datname FROM pg_database WHERE datname ~ '${names}'`);
  const work = await readdir(path.join(stack.configDir, 'arr-postgres-migration', 'work')).catch(() => []);
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return [
    ...rows.map(({ datname }) => String(datname)),
    ...work,
    ...commands.filter(command => command.includes(`${stack.configDir}/arr-postgres-migration`)),
  ];
}
