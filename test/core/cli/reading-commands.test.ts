// `check`, `plugins`, `health` and `graph` read without leaving a trace, and a dry run still reports what would fail a
// start.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { sharedBuild } from '../../support/build.ts';
import { testDir } from '../../support/directory.ts';
import { freePort } from '../../support/stackwarden.ts';

const outDir = await sharedBuild(t);

const COMMANDS = ['check', 'plugins', 'health', 'graph'] as const;

/** Plugins of the product that a plugin beside them can meet. */
const MET = ['config', 'process', 'host-plugins', 'services'];

/** Plugins that try to write to `out`, each in its own way, at import or in its set-up. */
const writers = (out: string): Record<string, string> => ({
  'writes-at-import': `import fs from 'node:fs'; fs.writeFileSync('${out}/import', 'x'); ${plugin('writes-at-import', '')}`,
  'writes-in-setup': `import fs from 'node:fs'; ${plugin('writes-in-setup', `fs.mkdirSync('${out}/setup')`)}`,
  'writes-later': `import fs from 'node:fs/promises'; ${plugin('writes-later', `void fs.writeFile('${out}/later', 'x')`)}`,
  'starts-a-program': `import { execFileSync } from 'node:child_process';
    ${plugin('starts-a-program', `execFileSync('touch', ['${out}/program'])`)}`,
  'saves-configuration': plugin(
    'saves-configuration',
    `return host.use('config.store').update({ updates: { tz: 'UTC' }, persist: true, actor: 'x' }).then(() => undefined)`,
  ),
  'asks-the-network': plugin('asks-the-network', `return host.fetch('http://127.0.0.1:1/').then(() => undefined)`),
});

function plugin(name: string, setup: string): string {
  return `export default { name: '${name}', host: '^1', setup(host) {
    host.route({ method: 'GET', path: '/${name}', summary: 'Of ${name}', handle: () => ({}) });
    ${setup}
  } };`;
}

/** All entries below a directory: kind, mode, time of the last change, content. */
async function inventory(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const places = [directory, ...entries.map(entry => path.join(entry.parentPath, entry.name))].sort();
  return Promise.all(
    places.map(async place => {
      const { mode, mtimeMs, isFile } = await lstat(place).then(found => ({ ...found, isFile: found.isFile() }));
      const hash = isFile
        ? createHash('sha256')
            .update(await readFile(place))
            .digest('hex')
        : '';
      return `${place} ${mode.toString(8)} ${mtimeMs} ${hash}`;
    }),
  );
}

/** Exit code and output. The command runs by `env`, because the hooks of test processes fail under a confinement. */
async function run(args: readonly string[], tmp: string): Promise<string> {
  const words = ['-u', 'NODE_OPTIONS', `TMPDIR=${tmp}`, process.execPath, path.join(outDir, 'core/cli/main.js')];
  const child = spawn('env', [...words, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return `${await exited} ${stdout}${stderr}`;
}

/** `own`: plugins beside which only those of the product are loaded that they meet. Default: every plugin. */
async function look(
  t: Test,
  root: string,
  configDir: string,
  own?: readonly string[],
): Promise<Record<string, string>> {
  const tmp = path.join(root, 'tmp');
  await mkdir(tmp, { recursive: true });
  const outputs: Record<string, string> = {};
  const before = await inventory(root);
  const chosen = own === undefined ? [] : ['--plugins', [...MET, ...own].join()];
  for (const command of COMMANDS) {
    const loads = command === 'check' || command === 'plugins';
    outputs[command] = await run([command, '--config-dir', configDir, ...(loads ? chosen : [])], tmp);
    t.same(await inventory(root), before, `${command} leaves no trace`);
  }
  return outputs;
}

t.test('a missing or empty configuration directory stays so', async t => {
  const root = testDir(t, { empty: {} });
  const port = String(await freePort());
  process.env.DUMB_API_SERVICE_PORT = port;
  t.teardown(() => delete process.env.DUMB_API_SERVICE_PORT);
  const absent = await look(t, root, path.join(root, 'absent'));
  t.match(absent.check, /^1 stackwarden: there is no directory .*absent.*--config-dir\n$/);
  t.match(absent.plugins, /^0 .*\nprocess +ready .*\nthere is no directory .*absent, .*--config-dir\n$/s);
  t.match(absent.health, /^1 stackwarden: there is no directory .*absent.*--config-dir\n$/);
  t.match(absent.graph, /^1 stackwarden: there is no directory .*absent.*--config-dir\n$/);
  const empty = await look(t, root, path.join(root, 'empty'));
  t.match(empty.check, /^0 .*stackwarden\.json \(which the first start writes\) and \d+ plugins are fine\n$/);
});

t.test('an old configuration, and plugins that write, change nothing on the disk', async t => {
  const root = testDir(t, { config: { plugins: {}, log: { 'old.log': 'line\n' } }, data: {}, out: {} });
  const configDir = path.join(root, 'config');
  const files = writers(path.join(root, 'out'));
  for (const [name, source] of Object.entries(files)) {
    await mkdir(path.join(configDir, 'plugins', name));
    await writeFile(path.join(configDir, 'plugins', name, 'index.js'), source);
  }
  const config = {
    data_root: path.join(root, 'data'),
    dumb: { log_dir: path.join(configDir, 'log'), api_service: { port: await freePort() } },
    // A block of an earlier release, which a start would move.
    huntarr: { enabled: false, process_name: 'Huntarr', command: ['sleep', '600'] },
  };
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify(config));
  await writeFile(path.join(configDir, 'stackwarden.json.123.tmp'), 'left by a save that was cut short');
  await chmod(configDir, 0o555);
  t.teardown(() => chmod(configDir, 0o755));
  const { check, plugins } = await look(t, root, configDir);
  t.match(check, /^0 .* plugins are fine\n$/, 'what was withheld is no fault of the plugin');
  for (const name of ['writes-in-setup', 'starts-a-program', 'asks-the-network']) {
    t.match(plugins, new RegExp(`^(?:0 )?${name} +ready +set up as far as it changes nothing$`, 'm'));
  }
  t.match(plugins, /^writes-at-import +skipped +changes something when it is imported/m);
  t.match(plugins, /^saves-configuration +ready +\//m, 'in memory everything can be changed');
});

t.test('state that others may read, as after a restore, is read and left as it is', async t => {
  const users = { enabled: false, users: [], jwt_secret: 'a-secret-of-more-than-thirty-two-letters' };
  const root = testDir(t, { config: { supervisor: { 'state.json': '{}' }, 'users.json': JSON.stringify(users) } });
  const configDir = path.join(root, 'config');
  const config = {
    dumb: { log_dir: path.join(configDir, 'log'), api_service: { port: await freePort() }, startup: {} },
    files: { enabled: false, process_name: 'Files', command: ['sleep', '600'] },
  };
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify(config));
  await chmod(path.join(configDir, 'supervisor'), 0o755);
  await chmod(path.join(configDir, 'users.json'), 0o644);
  const { check, plugins } = await look(t, root, configDir);
  t.match(check, /^0 .* plugins are fine\n$/, 'the next start takes it from their sight');
  t.notMatch(plugins, /set up as far as it changes nothing/);
});

t.test('a plugin that needs a plugin that would write is not reported as faulty', async t => {
  const root = testDir(t, { config: { plugins: { writer: {}, reader: {} } }, out: {} });
  const configDir = path.join(root, 'config');
  const set = (name: string, setup: string, needs = '') =>
    writeFile(
      path.join(configDir, 'plugins', name, 'index.js'),
      `import fs from 'node:fs'; ${plugin(name, setup).replace(`'^1'`, `'^1', needs: [${needs}]`)}`,
    );
  await set('writer', `fs.mkdirSync('${root}/out/x'); host.provide('writer.pages', { count: () => 1 });`);
  await set('reader', `host.use('writer.pages').count();`, `'writer'`);
  await writeFile(
    path.join(configDir, 'stackwarden.json'),
    JSON.stringify({ dumb: { api_service: { port: await freePort() } } }),
  );
  const { check, plugins } = await look(t, root, configDir, ['writer', 'reader']);
  t.match(check, /^0 .* plugins are fine\n$/);
  t.match(plugins, /^reader +ready +set up as far as it changes nothing$/m);
  await set('writer', '');
  const { check: checked } = await look(t, root, configDir, ['writer', 'reader']);
  t.match(
    checked,
    /^1 plugin reader: The part that provides writer\.pages is not available/,
    'nobody would at a start',
  );
});

t.test('real faults are still reported', async t => {
  const root = testDir(t, { config: { plugins: { strict: {}, unlucky: {} } } });
  const configDir = path.join(root, 'config');
  await writeFile(
    path.join(configDir, 'plugins', 'strict', 'index.js'),
    `export default { name: 'strict', host: '^1', config: z => z.object({ count: z.number().default(1) }), setup() {} };`,
  );
  await writeFile(
    path.join(configDir, 'plugins', 'unlucky', 'index.js'),
    plugin('unlucky', `throw new Error('no luck')`),
  );
  const config = {
    dumb: { strict: { count: 'many' }, api_service: { port: await freePort() } },
    files: { enabled: true, process_name: 'Files', command: ['sleep', '600'], port: 'eighty' },
  };
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify(config));
  const { check } = await look(t, root, configDir, ['strict', 'unlucky']);
  t.match(check, /^1 /);
  t.match(check, /^(1 )?dumb\.strict\.count: .*its default is used until it is mended/m);
  t.match(check, /^(1 )?plugin unlucky: no luck \(index\.js:3\)$/m);
  t.match(check, /files\.port: .*Files is disabled until it is mended/);
});
