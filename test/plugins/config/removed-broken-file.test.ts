// A configuration file that could not be used and was removed: a save ends the safe state, and the boot goes on.
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { until } from '../../support/until.ts';

for (const [name, broken] of [
  ['stackwarden.json', '{ "tz"'],
  ['stackwarden.yaml', 'tz: ['],
] as const)
  t.test(`a save in the place of a broken ${name}`, async t => {
    const configDir = testDir(t, { [name]: broken });
    const app = await startHost({ plugins: ['config', 'process', 'health'], configDir });
    t.teardown(() => app.stop());
    const file = path.join(configDir, name);
    const save = (log_level: string, more = {}) => app.post('/config', { updates: { dumb: { log_level } }, ...more });
    const phase = async () => (await app.get('/process/startup-status')).body.phase;
    const isSafe = async () => (await app.get('/health')).body.details?.includes(`${name}:1:`);
    await until(async () => (await phase()) === 'degraded');
    await rm(file);

    t.equal((await save('LOUD')).status, 400);
    t.ok(await isSafe(), 'a refused one leaves it safe');
    t.equal((await save('DEBUG', { persist: false })).status, 200);
    t.ok(await isSafe(), 'and so does one of memory alone');
    t.notOk(existsSync(file));
    t.equal(await phase(), 'degraded');
    t.equal((await save('INFO', { persist: false })).status, 200);

    t.match(await save('INFO'), { status: 200, body: { persisted: true, changed: [] } });
    t.not((await readFile(file, 'utf8')).trim(), '', 'one of what counts already ends that');
    await until(async () => (await phase()) === 'ready', { what: 'the boot to go on' });
    t.equal((await app.get('/health')).body.status, 'healthy');
  });
