// A change of the configuration during a launch applies to that run: its lines go to the log that the change names, and
// the next host knows that log.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, start, stop } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const ROUNDS = 12;
/** A plugin that changes the log a little later in each launch. */
const CHANGER = `export default { name: 'changer', host: '^1', needs: ['process'], setup (host) {
  let round = 0
  host.tap('process.launching', () => {
    const updates = { log_file: 'of-' + round + '.log' }
    const change = () => host.use('config.store').update({ processName: 'Kid', updates, persist: false, actor: 'me' })
    setTimeout(() => void change(), round % 6)
    round += 1
  })
} }`;

t.test('a change at any moment of the launch applies to the run', async t => {
  const configDir = testDir(t, { plugins: { changer: { 'index.mjs': CHANGER } } });
  const command = ['sh', '-c', 'while :; do echo said; sleep 0.05; done'];
  const config = { kid: { ...kid('Kid', []), command } };
  const app = await startHost({ configDir, config, plugins: ['config', 'process', 'changer'] });
  t.teardown(() => app.stop());
  const recorded = async () => {
    const { processes } = JSON.parse(await readFile(path.join(configDir, 'supervisor/state.json'), 'utf8'));
    return path.basename(processes.Kid.block.log_file);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    t.equal((await start(app, 'Kid')).status, 200);
    const name = `of-${round}.log`;
    await until(async () => (await readFile(path.join(configDir, 'log', name), 'utf8')).includes('said'), {
      timeoutMs: 10_000,
      what: `lines in ${name}`,
    });
    t.equal(await recorded(), name);
    t.equal((await stop(app, 'Kid')).status, 200);
  }
});
