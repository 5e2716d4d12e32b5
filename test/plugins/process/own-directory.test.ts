// A service whose block names no directory runs in a directory of its own, never in that of the host.
import { chmod, mkdir, readFile, readlink, stat } from 'node:fs/promises';
import path from 'node:path';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { kid, pidOf, start } from '../../support/kids.ts';
import { until } from '../../support/until.ts';

const HERE = {
  enabled: true,
  process_name: 'Here & There',
  command: ['sh', '-c', 'echo "in $(pwd -P)"; exec sleep 1000'],
};

async function directoryOf(configDir: string): Promise<string | undefined> {
  const log = await readFile(path.join(configDir, 'log', 'here.log'), 'utf8').catch(() => '');
  return /in (\/\S*)/.exec(log)?.[1];
}

t.test('a service gets a directory that it owns', async t => {
  const configDir = testDir(t, {});
  const here = { ...HERE, log_file: path.join(configDir, 'log', 'here.log') };
  const app = await startHost({ configDir, config: { here } });
  t.teardown(() => app.stop());
  const directory = await until(() => directoryOf(configDir));
  t.equal(directory, path.join(configDir, 'services', 'here-there'));
  const { uid, mode } = await stat(directory);
  t.equal(mode & 0o777, 0o750);
  if (process.getuid?.() === 0) t.equal(uid, 65_534);
  t.equal((await stat(path.dirname(directory))).uid, process.getuid?.(), 'others make no directory beside it');
});

t.test(
  'the root directory, where its user does not get there',
  { skip: process.getuid?.() !== 0 && 'needs root' },
  async t => {
    const configDir = testDir(t, {});
    const here = { ...HERE, log_file: path.join(configDir, 'log', 'here.log') };
    await chmod(configDir, 0o700);
    const app = await startHost({ configDir, config: { here } });
    t.teardown(() => app.stop());
    t.equal(await until(() => directoryOf(configDir)), '/');
  },
);

const FILMS = '\u0424\u0438\u043b\u044c\u043c\u044b 4K';
const SERIES = '\u0421\u0435\u0440\u0438\u0430\u043b\u044b 4K';

/** The directories of services by name, whose blocks stand in this order and name no directory. */
async function directoriesOf(t: Test, configDir: string, names: readonly string[]): Promise<Record<string, string>> {
  const blocks = names.map((name, index) => [`kid${index}`, kid(name, ['calm'])] as const);
  const app = await startHost({ configDir, config: Object.fromEntries(blocks) });
  try {
    const found: Record<string, string> = {};
    for (const name of names) {
      const answer = await start(app, name);
      t.equal(answer.status, 200, answer.text);
      found[name] = path.relative(
        path.join(configDir, 'services'),
        await readlink(`/proc/${await pidOf(app, name)}/cwd`),
      );
    }
    return found;
  } finally {
    await app.stop();
  }
}

t.test('of services with one slug, each has a directory, and keeps it', async t => {
  const configDir = testDir(t, {});
  await mkdir(path.join(configDir, 'services'));
  await mkdir(path.join(configDir, 'services', '4k'), { mode: 0o777 });
  t.same(await directoriesOf(t, configDir, [FILMS]), { [FILMS]: '4k' }, 'one that is alone stays where its data is');
  const both = await directoriesOf(t, configDir, [SERIES, FILMS]);
  t.equal(both[FILMS], '4k', 'and when another comes that is before it');
  t.match(both[SERIES], /^4k-[0-9a-f]{12}$/);
  t.same(await directoriesOf(t, configDir, [FILMS, SERIES]), both, 'whatever their order');
  t.same(await directoriesOf(t, configDir, [SERIES]), { [SERIES]: both[SERIES] }, 'and when the other is gone');
  t.same(await directoriesOf(t, configDir, ['4K']), { '4K': '4k' }, 'what is renamed keeps it too');
});

t.test('of names that come together, the one that is its slug has the directory', async t => {
  const configDir = testDir(t, {});
  const found = await directoriesOf(t, configDir, [
    'Foo Bar',
    'foo-bar',
    'FOO BAR',
    '\u0420\u0430\u0434\u0438\u043e',
    'process',
  ]);
  t.equal(found['foo-bar'], 'foo-bar');
  t.equal(found.process, 'process');
  t.equal(new Set(Object.values(found)).size, 5);
  t.match(found['\u0420\u0430\u0434\u0438\u043e'], /^process-[0-9a-f]{12}$/);
});

t.test('a name that no directory can have gets one too', async t => {
  const name = 'Long '.repeat(60).trim();
  const found = await directoriesOf(t, testDir(t, {}), [name]);
  t.match(found[name], /^(?:long-){48}.*[0-9a-f]{12}$/);
});
