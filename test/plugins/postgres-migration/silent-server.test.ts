// A migration that is asked for while the server takes connections and answers nothing, and databases of an earlier
// migration are still to be removed from it: the request is refused, and begins nothing later.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { newRecord } from '../../../plugins/postgres-migration/job.ts';
import { pidOf } from '../../support/kids.ts';
import { identityOf, makeStack, NAME, PREFIX, request, running, startStack } from '../../support/postgres-migration.ts';

t.test('a server that is silent does not hold up the request', async t => {
  const stack = await makeStack(t);
  const identity = identityOf('rehearsal');
  const { job, work } = newRecord(identity, [{ label: 'main', target: 'sonarr-main' }]);
  // PostgreSQL drops no template, so the removal stays due.
  const databases = work.databases.map(one => ({ ...one, staging: 'template1' }));
  const record = { job: { ...job, status: 'interrupted' }, work: { ...work, databases, isUndoDue: true } };
  const jobs = path.join(stack.configDir, 'arr-postgres-migration', 'jobs');
  await mkdir(jobs, { recursive: true, mode: 0o700 });
  await writeFile(path.join(jobs, `${job.job_id}.json`), JSON.stringify(record), { mode: 0o600 });
  const app = await startStack(t, stack);
  const server = await pidOf(app, 'PostgreSQL');

  process.kill(server, 'SIGSTOP');
  try {
    const { status, body } = await app.post(`${PREFIX}/start`, request('rehearsal'));
    t.equal(status, 400, body.detail);
    t.match(body.detail, /these checks failed: .*postgres_connection/);
  } finally {
    process.kill(server, 'SIGCONT');
  }
  await running(app);
  t.match((await app.get(`${PREFIX}/latest?process_name=${NAME}`)).body.job, { job_id: job.job_id }, 'none was queued');
});
