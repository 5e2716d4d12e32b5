// The files of one log with its rotated ones, and without those of other services.
import { symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { areOfOneLog } from '../../../plugins/logs/rotated-files.ts';
import { kid } from '../../support/kids.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';

const READER = `
  const { z } = host
  host.route({
    method: 'POST', path: '/third-party/logs', summary: 'Reads the files of a log',
    body: z.object({ name: z.string(), since: z.number() }), response: z.unknown(),
    async handle ({ body }) {
      const set = await host.use('log.files').openSet(body.name, body.since)
      if (set === null) return null
      const { readSync } = await import('node:fs')
      const read = ({ name, descriptor, sizeBytes }) => {
        const bytes = Buffer.alloc(sizeBytes)
        readSync(descriptor, bytes, 0, sizeBytes, 0)
        return [name, String(bytes)]
      }
      const answer = { discovered: set.discovered, files: set.files.map(read) }
      await set.close()
      return answer
    }
  })`;

t.test('rotated files are recognized by their names', async t => {
  for (const name of [
    'app.log',
    'app.log.1',
    'app.1.log',
    'app-2026-01-02.log',
    'app-2026-01-02_3.log',
    'app.log.2.gz',
    'app-2026-01-02.log.gz',
  ])
    t.ok(areOfOneLog(name, 'app.log') && areOfOneLog('app.log', name), name);
  for (const name of [
    'app.txt',
    'application.log',
    'app-other.log',
    'my-app.log',
    'app.debug.log',
    'app.log.old',
    'applog',
    'app.log.1.zip',
  ])
    t.notOk(areOfOneLog(name, 'app.log') || areOfOneLog('app.log', name), name);
  t.ok(areOfOneLog('app.0.txt', 'app.txt'));
  t.ok(areOfOneLog('log_20260102.txt', 'log_20260103.txt'));
});

t.test('the newest files come first, and links to elsewhere are left out', async t => {
  const app = await startWithPlugins(
    t,
    { 'third-party': READER },
    {
      shipped: ['config', 'process', 'logs'],
      config: {
        app: { ...kid('App', ['calm']), enabled: false, log_file: 'app.log' },
        silent: { ...kid('Silent', ['calm']), enabled: false, log_file: 'none.log' },
      },
    },
  );
  const logs = path.join(app.configDir, 'log');
  const names = ['app.log', 'app.log.1', 'app.log.2', 'app.log.3', 'app-other.log'];
  for (const [index, name] of names.entries()) {
    const file = path.join(logs, name);
    await writeFile(file, `content of ${name}`);
    await utimes(file, 2_000 - index, 2_000 - index);
  }
  await writeFile(path.join(app.configDir, 'secret.txt'), 'nobody may see this');
  await symlink(path.join(app.configDir, 'secret.txt'), path.join(logs, 'app.log.4'));
  const read = async (name: string, since: number) => (await app.post('/third-party/logs', { name, since })).body;
  t.same(await read('App', 0), {
    discovered: 4,
    files: ['app.log', 'app.log.1', 'app.log.2', 'app.log.3'].map(name => [name, `content of ${name}`]),
  });
  t.match(await read('App', 1_998_500), { discovered: 2, files: [['app.log'], ['app.log.1']] });
  t.equal(await read('Silent', 0), null);
  t.equal((await app.post('/third-party/logs', { name: 'Nobody', since: 0 })).status, 404);
});
