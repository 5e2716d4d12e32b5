// Output that another program writes as a part of a run goes to the output of that run only.
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir } from '../../support/host.ts';
import { kid, pidOf, start, status, stop } from '../../support/kids.ts';
import { ownLog, startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const skip = !existsSync(path.join(pluginsDir, 'process'));

const helper = {
  more: `needs: ['process'],`,
  setup: `
    let run
    host.tap('process.started', ({ processName }) => { run = host.use('process.supervisor').share(processName) })
    host.route({ method: 'POST', path: '/speak', summary: 'writes', async handle () {
      let output
      try {
        output = await run.openOutput()
        await output.write('what the helper says\\n')
        return { said: true }
      } catch {
        return { said: false }
      } finally {
        await output?.close()
      }
    } })`,
};

t.test('shared output appears in the log of the run', { skip }, async t => {
  const dir = testDir(t, {});
  const config = { own: kid('Own', ['calm'], { suppress_logging: false }) };
  const app = await startWithPlugins(t, { helper }, { shipped: ['config', 'process'], config });
  t.match(await start(app, 'Own'), { status: 200 });
  t.match(await app.post('/speak', {}), { body: { said: true } });
  await until(async () => (await ownLog(app)).includes('what the helper says'), { what: 'what it says' });

  const place = path.join(app.configDir, 'supervisor');
  // As if another user had made the link.
  await chmod(place, 0o777);
  const [spool = ''] = (await readdir(place)).filter(name => name.endsWith('.spool'));
  const other = path.join(dir, 'other');
  await writeFile(other, '');
  await rename(path.join(place, spool), path.join(place, 'kept'));
  await symlink(other, path.join(place, spool));
  t.match(await app.post('/speak', {}), { body: { said: false } });
  t.equal(await readFile(other, 'utf8'), '', 'no link is followed');
  await rename(path.join(place, 'kept'), path.join(place, spool));
  await chmod(place, 0o700);

  t.match(await stop(app, 'Own'), { status: 200 });
  await until(() => !existsSync(path.join(place, spool)), { what: 'the end of the run' });
  t.match(await app.post('/speak', {}), { body: { said: false } });
  t.notOk(existsSync(path.join(place, spool)), 'none is made after its end');
});

t.test('a run that is being stopped is not joined any more', { skip }, async t => {
  const config = { own: kid('Own', ['ignore-term'], { stop_grace_seconds: 60 }) };
  const app = await startWithPlugins(t, { helper }, { shipped: ['config', 'process'], config });
  t.match(await start(app, 'Own'), { status: 200 });
  const stopped = stop(app, 'Own');
  await until(async () => (await status(app, 'Own')).status === 'stopping', { what: 'the beginning of the stop' });
  t.match(await app.post('/speak', {}), { body: { said: false } }, 'nobody would end what is started now');
  process.kill(await pidOf(app, 'Own'), 'SIGKILL');
  t.match(await stopped, { status: 200 });
});
