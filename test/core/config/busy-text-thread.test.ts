// While the thread for texts has no turn, nothing is known about a configuration file that it would parse: the file is
// not called a bad one, and is used as soon as it can be parsed.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { openConfig } from '../../../core/config/open.ts';
import { fillTextThread } from '../../support/busy-text-thread.ts';
import { testDir } from '../../support/directory.ts';
import { until } from '../../support/until.ts';

/** YAML that the thread parses. */
const yaml = (tz: string): string => `tz: ${tz}\n# ${'x'.repeat(10_000)}\n`;

t.test('a change is used once it can be parsed, and the log has one line until then', async t => {
  const configDir = testDir(t, { 'stackwarden.yaml': yaml('first') });
  const told: string[] = [];
  const log = { debug() {}, info() {}, warn() {}, error: (message: string) => void told.push(message) };
  const config = await openConfig({ configDir, log, env: {} });
  t.teardown(() => config.close());
  await config.startWatching();
  const letGo = await fillTextThread(t);
  await writeFile(path.join(configDir, 'stackwarden.yaml'), yaml('second'));
  await until(() => told.length > 0);
  const update = { updates: { puid: 5 }, persist: true, actor: 'test' };
  await t.rejects(config.store.update(update), { status: 503, message: /Too many large texts.*nothing was changed/ });
  t.equal(config.store.get('tz'), 'first');
  await letGo();
  await until(() => config.store.get('tz') === 'second', { what: 'the change to be used' });
  t.match(told, [/cannot be read any more.*Too many large texts/]);
  t.equal(told.length, 1);
});

t.test('a good copy of a broken file is used at a start', async t => {
  const configDir = testDir(t, { 'stackwarden.yaml': 'tz: [', 'stackwarden.yaml.bak': yaml('older') });
  await fillTextThread(t);
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const config = await openConfig({ configDir, log: quiet, env: {} });
  t.teardown(() => config.close());
  t.match([config.store.state, config.store.get('tz')], ['recovered', 'older']);
});
