// A file of the configuration that is no regular one is told by name: it is neither waited for nor read without an end.
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';

const PLACES: Readonly<Record<string, (file: string) => unknown>> = {
  'a FIFO': file => execFileSync('mkfifo', [file]),
  'a device': file => symlink('/dev/zero', file),
  'a directory': file => mkdir(file),
};

const LIMIT_MS = 30_000;
/** The core reads these files for all plugins. */
const PLUGINS = ['config', 'health'];
const CHOSEN = ['--plugins', PLUGINS.join()];

function run(args: readonly string[]): Promise<{ readonly signal: NodeJS.Signals | null; readonly text: string }> {
  const main = path.resolve(import.meta.dirname, '../../core/cli/main.ts');
  const options = { timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const;
  const child = spawn(process.execPath, ['--import=tsx', main, ...args], options);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (text += part));
  return new Promise(resolve => child.on('close', (_code, signal) => resolve({ signal, text })));
}

for (const [what, make] of Object.entries(PLACES)) {
  t.test(`${what} in place of the configuration`, async t => {
    const configDir = testDir(t, {});
    const file = path.join(configDir, 'stackwarden.json');
    await make(file);
    const told = { message: `${file} is no regular file; replace it with one, or remove it` };
    await t.rejects(startHost({ plugins: PLUGINS, configDir }), told);
    const said = await run(['plugins', ...CHOSEN, '--config-dir', configDir]);
    t.not(said.signal, 'SIGKILL', 'a command does not wait for it either');
    await rm(file, { recursive: true });

    const app = await startHost({ plugins: PLUGINS, configDir });
    t.teardown(() => app.stop());
    await rm(file, { recursive: true });
    await make(file);
    const answer = await app.post('/config', { updates: { dumb: { log_level: 'DEBUG' } }, persist: true });
    t.equal(answer.status, 503, answer.text);
    await rm(file, { recursive: true });
  });
}

for (const [what, make] of Object.entries(PLACES)) {
  t.test(`${what} in place of the variables, and of the copy of a damaged configuration`, async t => {
    const configDir = testDir(t, { 'stackwarden.json': '{ "tz": ', 'stackwarden.json.bak.1': '{ "tz": "older" }' });
    const place = (name: string): string => path.join(configDir, name);
    await make(place('stackwarden.json.bak'));
    t.not((await run(['check', ...CHOSEN, '--config-dir', configDir])).signal, 'SIGKILL', 'nobody waits for the copy');

    await writeFile(place('stackwarden.json'), '{}');
    await make(place('.env'));
    const { signal, text } = await run(['check', ...CHOSEN, '--config-dir', configDir]);
    t.not(signal, 'SIGKILL', 'nobody waits for the variables');
    t.match(text, `variables do not count: ${place('.env')} is no regular file; replace it with one, or remove it`);
  });
}

t.test('a link that leads nowhere is not taken for a missing file', async t => {
  const configDir = testDir(t, { 'stackwarden.yaml': 'tz: UTC\n' });
  const file = path.join(configDir, 'stackwarden.json');
  await symlink('gone/stackwarden.json', file);
  const message = `${file} is a link to gone/stackwarden.json, which does not exist; bring that back, or remove the link`;
  await t.rejects(startHost({ plugins: ['config'], configDir }), { message });
  t.match((await run(['check', ...CHOSEN, '--config-dir', configDir])).text, message);
  await rm(path.join(configDir, 'stackwarden.yaml'));
  await t.rejects(startHost({ plugins: ['config'], configDir }), { message }, 'nor is another one made in its place');
});
