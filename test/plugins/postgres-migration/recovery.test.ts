// A move that was cut off, and that could not be taken back at the start of the host because its disk was full: the
// next start of the service does so.
import t from 'tap';
import { type JobRecord, newRecord } from '../../../plugins/postgres-migration/job.ts';
import { Recovery } from '../../../plugins/postgres-migration/recovery.ts';

const NAME = 'Sonarr';
const IDENTITY = {
  process_name: NAME,
  service_key: 'sonarr',
  instance_name: 'Default',
  mode: 'cutover' as const,
  include_logs: false,
  preflight: {},
  binding: {},
  was_running: true,
};

t.test('what could not be put back is put back by the next start, once', async t => {
  const { job, work } = newRecord(IDENTITY, []);
  const record = { job: { ...job, status: 'running' as const, rollback_checkpoint: 'target_promoted' as const }, work };
  const disk = { isFull: true };
  const need = (): void => {
    if (disk.isFull) throw new Error('no space left on device');
  };
  const [updates, kept]: [unknown[], JobRecord[]] = [[], []];
  const update = async (change: unknown) => {
    need();
    updates.push(change);
  };
  const log = { warn() {}, error() {} };
  const context = {
    host: { name: 'test', signal: new AbortController().signal, use: () => ({ update }), emit() {}, log },
    guard: { changing: (_name: string, _keys: unknown, change: () => Promise<unknown>) => change() },
    server: { managed: { place: () => undefined } },
    places: { leftWork: async () => [], removeWork: async () => undefined },
    files: {
      show() {},
      async save(saved: JobRecord) {
        need();
        kept.push(saved);
      },
    },
  };
  const held = { snapshot: () => ({ pid: null }) };
  const migrations = {
    subject: () => ({ processName: NAME, switchedFile: undefined }),
    resume: (_subject: unknown, _record: unknown, goOn: (...given: unknown[]) => unknown) => goOn(undefined, held),
  };
  const parts = { migrations, leftovers: { clear: async () => undefined } };
  const recovery = new Recovery(context as never, parts as never, [record]);
  await t.rejects(recovery.beforeStart(NAME), /no space/);
  await recovery.run();
  t.same([updates, kept], [[], []]);
  disk.isFull = false;
  for (let starts = 0; starts < 2; starts += 1) await recovery.beforeStart(NAME);
  t.match(updates, [{ processName: NAME, updates: { postgres_enabled: false } }]);
  t.equal(updates.length, 1);
  t.match(kept.at(-1), { job: { status: 'failed_rolled_back' }, work: { isUndoDue: true } });
});
