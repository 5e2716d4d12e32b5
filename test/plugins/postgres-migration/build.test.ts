// A build outside of the project has the programs that examine SQLite, create the tables and transfer the rows.
import { spawn } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { sharedBuild } from '../../support/build.ts';
import { withNeeds } from '../../support/needs.ts';
import { type Body, makeStack, NAME, PLUGINS, PREFIX, request } from '../../support/postgres-migration.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

t.test('a build can rehearse a migration', async t => {
  const [stack, outDir] = await Promise.all([makeStack(t), sharedBuild(t)]);
  const port = await writeConfig(stack.configDir, stack.config);
  const args = ['start', '--config-dir', stack.configDir, '--plugins', (await withNeeds(PLUGINS)).join()];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const host = spawn(path.join(outDir, 'core/cli/main.js'), args, { cwd: outDir, env, stdio: 'ignore' });
  const over = new Promise(resolve => host.once('exit', resolve));
  t.teardown(async () => {
    host.kill('SIGTERM');
    await over;
  });
  const get = async (route: string): Promise<Body> => (await fetch(`http://127.0.0.1:${port}${route}`)).json();
  await until(async () => (await get(`${PREFIX}/preflight?process_name=${NAME}`)).ready === true, {
    what: 'the checks to pass',
  });
  const answer = await fetch(`http://127.0.0.1:${port}${PREFIX}/start`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request('rehearsal')),
  });
  t.equal(answer.status, 200);
  const job = await until(async () => {
    const { job: found } = await get(`${PREFIX}/latest?process_name=${NAME}`);
    return found.finished_at !== undefined && found;
  });
  t.match(job, { status: 'completed', error: null, result: { validated: true, key_row_counts: { Series: 300 } } });
});
