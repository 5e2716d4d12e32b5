// The flag of the first-run wizard: always answered, saved when possible, and kept in memory otherwise.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';

const skip = !existsSync(new URL('../../../plugins/onboarding/index.ts', import.meta.url));

t.test('onboarding can be completed and reset', { skip }, async t => {
  const app = await startHost({ plugins: ['config', 'onboarding'] });
  t.teardown(() => app.stop());
  const file = path.join(app.configDir, 'stackwarden.json');
  const flag = async () => JSON.parse(await readFile(file, 'utf8')).dumb.onboarding_completed;
  t.same((await app.get('/config/onboarding-status')).body, { needs_onboarding: true });
  t.match(await app.post('/config/onboarding-completed'), { status: 200, body: { status: String } });
  t.same((await app.get('/config/onboarding-status')).body, { needs_onboarding: false });
  t.equal(await flag(), true);
  t.match(await app.post('/config/reset-onboarding'), { status: 200, body: { status: String } });
  t.same((await app.get('/config/onboarding-status')).body, { needs_onboarding: true });
  t.equal(await flag(), false);
});

t.test('a flag that cannot be saved counts in memory', { skip }, async t => {
  const app = await startHost({ plugins: ['config', 'onboarding'] });
  t.teardown(() => app.stop());
  await writeFile(path.join(app.configDir, 'stackwarden.json'), '{"dumb": ');
  t.equal((await app.post('/config/onboarding-completed')).status, 409, 'the file is somebody elses to mend');
  t.same(
    (await app.get('/config/onboarding-status')).body,
    { needs_onboarding: false },
    'the wizard does not begin again',
  );
});

t.test('a damaged configuration is not overwritten', { skip }, async t => {
  const configDir = testDir(t, { 'stackwarden.json': '{"dumb": ' });
  const app = await startHost({ configDir, plugins: ['config', 'onboarding'] });
  t.teardown(() => app.stop());
  t.same((await app.get('/config/onboarding-status')).body, { needs_onboarding: false });
});

t.test('the answer says when the environment decides', { skip }, async t => {
  process.env.DUMB_ONBOARDING_COMPLETED = 'true';
  t.teardown(() => delete process.env.DUMB_ONBOARDING_COMPLETED);
  const app = await startHost({ plugins: ['config', 'onboarding'] });
  t.teardown(() => app.stop());
  const told = { status: 200, body: { status: String, overridden: ['dumb.onboarding_completed'], warnings: [] } };
  t.match(await app.post('/config/reset-onboarding'), told);
  t.same((await app.get('/config/onboarding-status')).body, { needs_onboarding: false });
  t.match((await app.post('/config/onboarding-completed')).body, { overridden: [] }, 'nothing is saved that differs');
});
