// The npm package, packed and unpacked in a folder of its own: a plugin beside it type-checks, is tested and runs.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { BUILD_ENV } from '../../support/build.ts';
import { mountMemory } from '../../support/directory.ts';
import { writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const rootDir = fileURLToPath(new URL('../../..', import.meta.url));
const packages = path.join(rootDir, 'node_modules');
const compiler = path.join(packages, 'typescript', 'lib', 'tsc.js');
// Asked of a plain Node, because this process has been taught to run TypeScript.
const runsTypeScript =
  (await run(rootDir, process.execPath, ['-p', 'Boolean(process.features.typescript)'])).output.trim() === 'true';

/** Runs a command without the hooks and marks of test processes. */
function start(cwd: string, command: string, args: readonly string[]): ChildProcess {
  return spawn('env', ['-u', 'NODE_OPTIONS', '-u', 'TAP', command, ...args], {
    cwd,
    env: { ...process.env, ...BUILD_ENV },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function run(
  cwd: string,
  command: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const child = start(cwd, command, args);
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve));
  const [stdout, stderr] = await Promise.all([child.stdout, child.stderr].map(stream => (stream ? text(stream) : '')));
  return { code: await exited, output: `${stdout}${stderr}` };
}

const node = (cwd: string, ...args: string[]) => run(cwd, process.execPath, args);

/** Installs as npm would, without a network: the archive is unpacked beside links to the project's packages. */
async function install(t: Test): Promise<string> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'stackwarden-scratch-'));
  t.teardown(() => rm(scratch, { recursive: true, force: true }));
  mountMemory(t, scratch);
  const built = await node(rootDir, '--import=tsx', 'core/build/package.ts', '--out', path.join(scratch, 'package'));
  t.equal(built.code, 0, built.output);
  const packed = await run(scratch, 'npm', ['pack', '--silent', './package']);
  t.equal(packed.code, 0, packed.output);
  await rm(path.join(scratch, 'package'), { recursive: true });
  const [archive = ''] = (await readdir(scratch)).filter(name => name.endsWith('.tgz'));
  await mkdir(path.join(scratch, 'node_modules', 'stackwarden'), { recursive: true });
  for (const name of await readdir(packages)) {
    if (!name.startsWith('.')) await symlink(path.join(packages, name), path.join(scratch, 'node_modules', name));
  }
  const unpack = ['-xzf', archive, '-C', 'node_modules/stackwarden', '--strip-components=1'];
  t.equal((await run(scratch, 'tar', unpack)).code, 0);
  return scratch;
}

const SIGNAL_TEST = `
  import type { Contributions, Plugin } from 'stackwarden/plugin';
  import type { NotificationDestination } from 'stackwarden/plugins/notifications';
  import { definePlugin, Problem } from 'stackwarden/plugin';
  import { holdDestination, holdProvider, MESSAGES, type SignalCase, testSignalSource } from 'stackwarden/contracts';
  import t from 'tap';
  const source: Contributions['dependency.signal'] = {
    signal: 'neighbour_of',
    classification: 'hard',
    strength: 'hard_configured',
    description: 'names the service beside which it stands',
    find: snapshot => ({
      relations: snapshot.entries.flatMap(entry => {
        const [other] = snapshot.resolve(String(entry.config.core_service ?? ''), entry);
        return other === undefined ? [] : [{ dependency: other.processName, dependent: entry.processName }];
      }),
    }),
  };
  export const plugin: Plugin = definePlugin({
    name: 'neighbours',
    host: '^1',
    setup(host) {
      host.contribute('dependency.signal', 'neighbours', source);
      host.tap('process.started', snapshot => host.log.info(snapshot.processName));
      if (new Problem(400, 'x').status !== 400) throw new Error('another Problem');
    },
  });
  const cases: SignalCase[] = [
    { name: 'none', config: { a: { process_name: 'A', command: ['a'] } }, finds: [] },
    {
      name: 'one',
      config: { a: { process_name: 'A', command: ['a'], core_service: 'b' }, b: { process_name: 'B', command: ['b'] } },
      finds: ['B -> A'],
    },
  ];
  testSignalSource(async () => source, cases);

  const bell: NotificationDestination<string> = {
    schemes: ['bell', 'bells'],
    example: 'bell://host/token',
    parse(url) {
      if (url.segments.length !== 1) throw new Problem(400, 'The URL needs a token: bell://host/token');
      return url.base() + url.path();
    },
    send: async (url, { title, body }, delivery) =>
      delivery.outcome(await delivery.request(url, { json: { title, body } })),
  };
  holdDestination(t, bell, {
    cases: [{ url: 'bells://host/toKen', sends: { to: 'POST https://host/toKen', json: { title: 'Title', body: 'Body' } } }],
    refused: [{ url: 'bell://host', message: /needs a token/ }],
    accepts: [{ status: 204 }],
    refuses: [{ status: 403, body: { error: 'no' }, error: /^HTTP 403: no$/ }],
    secret: { url: 'bell://host/s3cr3t-toKen', parts: ['s3cr3t-toKen'] },
  });

  const oracle: Contributions['ai.provider'] = {
    descriptor: {
      value: 'oracle',
      label: 'Oracle',
      promptBudgetChars: 5_000,
      locality: 'local',
      endpoint: { mode: 'custom' },
      key: 'optional',
      temperature: true,
    },
    create: ({ completions }) => ({
      listModels: target => completions.models(target, 'models', { source: true }),
      chat: (target, request) => completions.chat(target, request, 'chat'),
    }),
  };
  const base = 'http://oracle.example';
  holdProvider(t, oracle, {
    record: { base_url: base, model: 'tiny' },
    bases: [{ stored: base + '/', base }],
    chats: [
      {
        sends: { to: 'POST ' + base + '/chat', json: { model: 'tiny', messages: MESSAGES } },
        answers: { body: { choices: [{ message: { content: 'Four.' } }] } },
        text: 'Four.',
      },
    ],
    models: [
      {
        sends: { to: 'GET ' + base + '/models' },
        answers: { body: { data: [{ id: 'llama' }] } },
        models: [{ name: 'llama', source: 'local' }],
      },
    ],
    silent: [{ body: { choices: [{ finish_reason: 'length' }] }, reason: /length/ }],
  });
`;

t.test('the package is all that an author of plugins needs', { timeout: 500_000 }, async t => {
  const scratch = await install(t);
  const main = path.join(scratch, 'node_modules', 'stackwarden', 'core', 'cli', 'main.js');
  const greeter = path.join(scratch, 'plugins', 'greeter');
  const made = await node(scratch, main, 'create-plugin', 'greeter', '--into', path.join(scratch, 'plugins'));
  t.equal(made.code, 0, made.output);

  await t.test('it contains the pages for authors of plugins', async t => {
    const product = path.join(scratch, 'node_modules', 'stackwarden');
    for (const page of ['plugins/README.md', 'plugins/notifications/README.md'])
      t.equal(await readFile(path.join(product, page), 'utf8'), await readFile(path.join(rootDir, page), 'utf8'), page);
  });

  await t.test('create-plugin writes a plugin with its own name', async t => {
    const names = (await readdir(greeter, { recursive: true })).sort();
    const expected = ['README.md', 'index.ts', 'package.json', 'test', 'test/greeter.test.ts', 'test/tsconfig.json'];
    for (const name of expected) t.ok(names.includes(name), name);
    t.equal(names.includes('index.js'), !runsTypeScript, 'JavaScript only where it is needed');
    for (const name of names.filter(candidate => /\.\w+$/.test(candidate))) {
      t.notMatch(await readFile(path.join(greeter, name), 'utf8'), /my[-_]plugin/, name);
    }
    const manifestOf = async (folder: string) => JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    const { peerDependencies } = await manifestOf(path.join(scratch, 'node_modules', 'stackwarden'));
    const { devDependencies } = await manifestOf(greeter);
    for (const name of Object.keys(peerDependencies))
      t.ok(name in devDependencies, `it installs ${name}, which the suites of the contract import`);
    const again = await node(scratch, main, 'create-plugin', 'greeter', '--into', path.join(scratch, 'plugins'));
    t.match(again, { code: 1, output: /^stackwarden: .*greeter is there already; choose another name\n$/ });
    t.match(await node(scratch, main, 'create-plugin'), {
      code: 2,
      output: /^stackwarden: create-plugin needs a name/,
    });
    t.match(await node(scratch, main, 'create-plugin', '../x'), {
      code: 1,
      output: /^stackwarden: '..\/x' is no name/,
    });
  });

  await t.test('the plugin and its tests are type-checked against the package', async t => {
    await writeFile(path.join(greeter, 'test', 'neighbours.test.ts'), SIGNAL_TEST);
    const check = () => node(scratch, compiler, '--singleThreaded', '--project', path.join(greeter, 'test'));
    const fine = await check();
    t.equal(fine.code, 0, fine.output);
    const file = path.join(greeter, 'index.ts');
    const source = await readFile(file, 'utf8');
    const mistakes = [
      ["'process.started'", "'process.begun'"],
      ["path: '/greeter'", 'path: 7'],
      ["host: '^1'", 'host: 1'],
      ['greeting }) {', 'greetings }) {'],
    ] as const;
    const wrong = mistakes.reduce((text, [right, mistake]) => text.replace(right, mistake), source);
    await writeFile(file, wrong);
    await mkdir(path.join(greeter, 'commands'));
    await writeFile(path.join(greeter, 'commands', 'greet.ts'), 'export const greeting: string = 1;\n');
    const refused = await check();
    t.not(refused.code, 0);
    const lines = wrong.split('\n');
    for (const [, mistake] of mistakes) {
      const number = lines.findIndex(line => line.includes(mistake)) + 1;
      t.match(refused.output, `index.ts(${number},`, mistake);
    }
    t.match(refused.output, 'commands/greet.ts(1,');
    await rm(path.join(greeter, 'commands'), { recursive: true });
    await writeFile(file, source);
  });

  await t.test('a test of the plugin runs its changed code', { skip: runsTypeScript }, async t => {
    const file = path.join(greeter, 'index.ts');
    const source = await readFile(file, 'utf8');
    await writeFile(path.join(greeter, 'words.ts'), "export const word: string = 'Good day';\n");
    await writeFile(file, `import { word } from './words.ts';\n${source.replace("'Hello'", 'word')}`);
    const env = `PATH=${path.join(packages, '.bin')}:${process.env.PATH}`;
    const prepared = await run(greeter, 'env', [env, 'npm', 'run', 'pretest']);
    t.equal(prepared.code, 0, prepared.output);
    const test = await node(greeter, '--import=tsx', 'test/greeter.test.ts');
    t.match(test.output, /"text": "Good day"/);
    await writeFile(file, source);
    await rm(path.join(greeter, 'words.ts'));
    t.equal((await run(greeter, 'env', [env, 'npm', 'run', 'build'])).code, 0);
  });

  await t.test('npm test builds tap with its plugins first', async t => {
    // A real tap would be changed by that; this one prints what it was told to do.
    const bin = path.join(scratch, 'bin');
    await mkdir(bin);
    await writeFile(path.join(bin, 'tap'), '#!/bin/sh\necho "tap was asked to $1"\n', { mode: 0o755 });
    const env = `PATH=${bin}:${path.join(packages, '.bin')}:${process.env.PATH}`;
    const { code, output } = await run(greeter, 'env', [env, 'npm', 'test']);
    t.equal(code, 0, output);
    t.strictSame(output.match(/tap was asked to \w+/g), ['tap was asked to build', 'tap was asked to run']);
  });

  await t.test('the test of the plugin passes, and so does a contract test', async t => {
    const own = await node(greeter, '--import=tsx', 'test/greeter.test.ts');
    t.equal(own.code, 0, own.output);
    t.match(own.output, /ok \d+ - the plugin greeter/);
    const suite = await node(greeter, '--import=tsx', 'test/neighbours.test.ts');
    t.equal(suite.code, 0, suite.output);
    t.match(suite.output, /ok \d+ - faults of the service/);
  });

  await t.test('the plugin runs in a host, also from TypeScript alone where Node can', async t => {
    const configDir = path.join(scratch, 'config');
    const port = await writeConfig(configDir);
    const host = start(scratch, process.execPath, [main, 'start', '--config-dir', configDir]);
    const exited = new Promise<number | null>(resolve => host.once('exit', resolve));
    t.teardown(() => host.kill('SIGKILL'));
    const base = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${base}/host/plugins`)).ok, { timeoutMs: 90_000, what: 'an answer' });
    const second = await node(scratch, main, 'create-plugin', 'second-one', '--config-dir', configDir);
    t.equal(second.code, 0, second.output);
    await until(async () => (await fetch(`${base}/second-one`)).ok, { what: 'the plugin, without a restart' });
    t.same(await (await fetch(`${base}/second-one`)).json(), { text: 'Hello', started: 0 });
    const typed = path.join(configDir, 'plugins', 'typed');
    await mkdir(typed);
    const source = await readFile(path.join(greeter, 'index.ts'), 'utf8');
    await writeFile(path.join(typed, 'index.ts'), source.replaceAll('greeter', 'typed'));
    const report = await until(async () => {
      const { plugins } = (await (await fetch(`${base}/host/plugins`)).json()) as {
        plugins: { name: string; state: string; reason: string | null }[];
      };
      return plugins.find(({ name }) => name === 'typed');
    });
    if (runsTypeScript) t.match(report, { state: 'ready' });
    else
      t.match(report, {
        state: 'failed',
        reason: /^Node .* does not run its index\.ts; compile it|^Node .* compile that/,
      });
    host.kill('SIGTERM');
    t.equal(await exited, 0);
  });
});
