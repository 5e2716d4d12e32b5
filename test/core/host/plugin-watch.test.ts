// Changes of plugin folders that come while the host loads what was there before.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

t.test('what changes while the host starts is noticed', async t => {
  const app = await startWithPlugins(t, {
    // It has been imported when the other one is set up, which changes its file and adds a folder beside it.
    changed: { setup: '', more: "version: '1.0.0', after: ['changer']," },
    changer: `
      const { mkdirSync, readFileSync, writeFileSync } = await import('node:fs')
      const { folder } = host.plugins().find(({ name }) => name === 'changed')
      const text = readFileSync(folder + '/index.js', 'utf8')
      writeFileSync(folder + '/index.js', text.replace('1.0.0', '2.0.0'))
      mkdirSync(folder + '/../added')
      writeFileSync(folder + '/../added/index.js', text.replace("'changed'", "'added'"))
    `,
    untouched: 'globalThis.timesSetUp = (globalThis.timesSetUp ?? 0) + 1',
  });
  const find = (wanted: string) => app.host.plugins().find(({ name }) => name === wanted);
  const isReady = (version: string) => find('changed')?.version === version && find('changed')?.state === 'ready';
  await until(() => isReady('2.0.0'), { what: 'the new version' });
  await until(() => find('added'), { what: 'the new folder' });
  const file = path.join(find('changed')?.folder ?? '', 'index.js');
  await writeFile(file, (await readFile(file, 'utf8')).replace('2.0.0', '3.0.0'));
  await until(() => isReady('3.0.0'), { what: 'a later version' });
  t.equal((globalThis as { timesSetUp?: number }).timesSetUp, 1, 'and nothing else is loaded again');
});
