// The files for health checks of a container are written again after a full disk, without a restart.
import { mkdir, readdir, readFile, rmdir } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { RunFiles } from '../../../plugins/process/boot/run-files.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

const noted = () => {
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  return { lines, log: { debug: note, info: note, warn: note, error: note } };
};

t.test('a file that could not be written is written later', async t => {
  const directory = testDir(t, {});
  const { lines, log } = noted();
  const file = path.join(directory, 'running_processes.json');
  await mkdir(file);
  const files = new RunFiles(log, directory);
  t.teardown(() => files.close());
  files.running(() => ({ Kid: 1 }));
  await until(() => lines.length > 0, { what: 'the warning' });
  files.running(() => ({ Kid: 2 }));
  await rmdir(file);
  const content = await until(async () => JSON.parse(await readFile(file, 'utf8')), { what: 'the file' });
  t.same(content, { Kid: 2 });
  t.match(lines, [/running_processes\.json cannot be written/, /running_processes\.json is written again$/]);
});

t.test('what a host that was killed amid a write has left is removed', async t => {
  const [left, other] = ['running_processes.json.4711-0123abcd.tmp', 'other.json.4711-0123abcd.tmp'];
  const directory = testDir(t, { [left]: '{', [other]: '{' });
  const files = new RunFiles(noted().log, directory);
  files.running(() => ({ Kid: 1 }));
  await files.close();
  t.same((await readdir(directory)).sort(), [other, 'running_processes.json']);
});

t.test('no file is written without the directory', async t => {
  const directory = path.join(testDir(t, {}), 'healthcheck');
  const { lines, log } = noted();
  const files = new RunFiles(log, directory);
  files.running(() => ({}));
  await files.close();
  t.same(lines, []);
  await t.rejects(readdir(directory));
});
