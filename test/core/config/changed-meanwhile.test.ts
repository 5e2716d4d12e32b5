// A change that somebody else writes to the configuration file is not lost while an update is checked and written.
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { startWithPlugins } from '../../support/own-plugins.ts';

const WRITES: Readonly<Record<string, (file: string, text: string) => Promise<void>>> = {
  'in place': writeFile,
  'as editors do': async (file, text) => {
    await writeFile(`${file}~`, text);
    await rename(`${file}~`, file);
  },
};

/** Calls a global function while an update is checked. */
const CHECKING = { setup: `host.tap('config.check', async () => globalThis.fixtureMeanwhile?.())` };

t.test('an update keeps what was written to the file meanwhile', async t => {
  const app = await startWithPlugins(t, { checking: CHECKING }, { shipped: ['config', 'process'] });
  const file = path.join(app.configDir, 'stackwarden.json');
  const meanwhile = globalThis as { fixtureMeanwhile?: (() => Promise<void>) | undefined };
  t.teardown(() => {
    delete meanwhile.fixtureMeanwhile;
  });
  const save = (tz: string) => app.post('/config', { updates: { tz } });
  for (const [how, write] of Object.entries(WRITES)) {
    const text = (await readFile(file, 'utf8')).replace('{', `{ "data_root": "/srv/${how.length}",`);
    meanwhile.fixtureMeanwhile = () => write(file, text);
    t.match(await save('UTC'), { status: 409, body: { detail: /meanwhile.*send the change again/ } }, how);
    t.equal(await readFile(file, 'utf8'), text, 'is not saved over it');
    meanwhile.fixtureMeanwhile = undefined;
    t.match(await save(`Europe/${how.length}`), { status: 200 }, 'and is made of it when it is sent again');
    const saved = JSON.parse(await readFile(file, 'utf8'));
    t.match(saved, { data_root: `/srv/${how.length}`, tz: `Europe/${how.length}` });
    await writeFile(file, (await readFile(file, 'utf8')).replace(/ "data_root": "[^"]*",/, ''));
  }
  meanwhile.fixtureMeanwhile = () => rm(file);
  t.match(await save('UTC'), { status: 200 }, 'what is only removed is written again');
  t.match(JSON.parse(await readFile(file, 'utf8')), { tz: 'UTC', puid: 65_534 });
});
