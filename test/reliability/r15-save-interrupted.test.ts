// R15: a save of the configuration is killed at any moment: the old file or the new one, never neither.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { testDir } from '../support/directory.ts';
import { startHost } from '../support/host.ts';
import { TYPESCRIPT } from '../support/typescript.ts';
import { until } from '../support/until.ts';

const PLUGINS = ['config'];

const saver = fileURLToPath(new URL('../support/config-saver.ts', import.meta.url));
const KILLS = 15;
const MAX_DELAY_MS = 60;
const MORE_DELAY_MS = 10;
const START_LIMIT_MS = 120_000;

t.test('killed again and again while saving', async t => {
  const configDir = testDir(t, {});
  const file = path.join(configDir, 'stackwarden.json');
  await writeFile(file, JSON.stringify({ dumb: { count: 0, filler: '0' } }));
  let last = 0;
  // On a slow machine the first ones come before any save is done.
  for (let kill = 0; kill < KILLS || last === 0; kill += 1) {
    const child = spawn(process.execPath, [TYPESCRIPT, saver, configDir, String(last + 1)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const tooEarly = ended.then(([code]) => {
      throw new Error(`the saver ended with ${code} before its first save`);
    });
    await Promise.race([once(child.stdout, 'data', { signal: AbortSignal.timeout(START_LIMIT_MS) }), tooEarly]);
    // The moment is the subject here: every one of them must do.
    await delay(Math.random() * (MAX_DELAY_MS + kill * MORE_DELAY_MS));
    child.kill('SIGKILL');
    await ended;
    const { dumb } = JSON.parse(await readFile(file, 'utf8'));
    t.ok(dumb.filler === String(dumb.count).repeat(20_000) || dumb.filler === '0', `whole after save ${dumb.count}`);
    t.ok(dumb.count >= last, 'never older than what was there before');
    last = dumb.count;
  }
  const app = await startHost({ plugins: PLUGINS, configDir });
  t.teardown(() => app.stop());
  const leftBeside = async (): Promise<string[]> =>
    (await readdir(configDir)).filter(
      name => name.startsWith('stackwarden.json') && !/\.json(\.bak(\.\d)?)?$/.test(name),
    );
  // The start makes a copy of its configuration, for which it does not wait.
  await until(async () => (await leftBeside()).length === 0, { what: 'the removal of what was left beside the file' });
});
