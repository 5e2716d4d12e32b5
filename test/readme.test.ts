// The README's commands, run as they stand, do what the README says of them.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { parseCommandLine } from '../core/cli/command-line.ts';
import { testDir } from './support/directory.ts';
import { COMMAND, freePort, type RunningStackwarden, startStackwarden } from './support/stackwarden.ts';
import { until } from './support/until.ts';

const PYTHON = '/usr/bin/python3';
const README = await readFile(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8');
/** A test asks nothing of the internet. */
const UNREACHABLE = Object.fromEntries(
  ['services.sonarr.tv', 'sonarr.servarr.com'].map(host => [host, 'http://127.0.0.1:1']),
);
/** Commands whose own test runs them. */
const ELSEWHERE: Readonly<Record<string, RegExp>> = {
  'test/core/cli/first-start.test.ts': /^npm ci && npm start\n$/,
  'test/trimmed/build.test.ts': /^npm run build -- --plugins/,
  'test/core/cli/command-line.test.ts': /^npx stackwarden start --config-dir DIR/,
  'CONTRIBUTING.md': /^npm test /,
};

/** The fenced blocks of a language, in their order. */
function blocks(language: string): string[] {
  const fences = [...README.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  return fences.filter(([, of]) => of === language).map(([, , text = '']) => text);
}

/** Takes the block that is known by this; each is taken once. */
const left = new Set(blocks('sh'));
function take(sign: RegExp): string {
  const found = [...left].filter(text => sign.test(text));
  if (found.length !== 1) throw new Error(`${found.length} commands of the README fit ${sign}`);
  left.delete(found[0] ?? '');
  return found[0] ?? '';
}

/** A directory in which somebody types the commands, and the host that answers them. */
class Reader {
  readonly directory: string;
  readonly #ports: { readonly api: number; readonly gateway: number };
  #host: RunningStackwarden | undefined;

  constructor(directory: string, ports: { readonly api: number; readonly gateway: number }) {
    this.directory = directory;
    this.#ports = ports;
  }

  get configDir(): string {
    return path.join(this.directory, '.stackwarden');
  }

  async start(): Promise<void> {
    const { api, gateway } = this.#ports;
    this.#host = await startStackwarden(this.configDir, api, {
      args: ['start', '--example'],
      env: {
        DUMB_API_SERVICE_PORT: String(api),
        DUMB_GATEWAY_PORT: String(gateway),
        DUMB_INSTALL_MIRRORS: JSON.stringify(UNREACHABLE),
        // A Python of a user's own may be out of reach of the services' user.
        PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
      },
    });
  }

  get log(): string {
    return this.#host?.stdout() ?? '';
  }

  async stop(): Promise<void> {
    this.#host?.child.kill('SIGTERM');
    await this.#host?.exited;
  }

  /** The output of a block; a curl that is refused tells what it was told, too. */
  type(text: string): Promise<string> {
    const { api, gateway } = this.#ports;
    const script = [
      `curl() { command curl -sS "$@"; echo; }`,
      `npx() { shift; '${process.execPath}' ${COMMAND.map(word => `'${word}'`).join(' ')} "$@"; }`,
      text.replaceAll('127.0.0.1:8000', `127.0.0.1:${api}`).replaceAll('127.0.0.1:3005', `127.0.0.1:${gateway}`),
    ].join('\n');
    const env = { ...process.env, NODE_OPTIONS: '', TAP: '', DUMB_API_SERVICE_PORT: String(api) };
    return new Promise(resolve =>
      execFile('bash', ['-c', script], { cwd: this.directory, env }, (_error, stdout, stderr) =>
        resolve(`${stdout}${stderr}`),
      ),
    );
  }

  async ask(route: string): Promise<Record<string, unknown>> {
    return (await (await fetch(`http://127.0.0.1:${this.#ports.api}${route}`)).json()) as Record<string, unknown>;
  }

  async pidOf(name: string): Promise<number> {
    const state = JSON.parse(await readFile(path.join(this.configDir, 'supervisor', 'state.json'), 'utf8'));
    return state.processes[name].pid;
  }
}

async function open(t: Test): Promise<Reader> {
  const reader = new Reader(testDir(t), { api: await freePort(), gateway: await freePort() });
  await mkdir(reader.configDir);
  await reader.start();
  t.teardown(() => reader.stop());
  const isReady = async () => (await reader.ask('/process/startup-status')).phase === 'ready';
  await until(isReady, { timeoutMs: 240_000 }).catch((error: Error) => {
    throw new Error(`${error.message}: ${reader.log}`, { cause: error });
  });
  return reader;
}

/** The words of a command as a shell splits them. */
function argumentsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|[^ ']+/g)].map(([word, quoted]) => quoted ?? word).slice(1);
}

/** Whether a JSON Schema names the key at this dotted path. */
function hasKey(schema: unknown, path: string): boolean {
  let part = schema as { properties?: Record<string, unknown> } | undefined;
  for (const key of path.split('.')) part = part?.properties?.[key] as typeof part;
  return part !== undefined;
}

t.test('what the README shows', { timeout: 500_000, skip: !existsSync(PYTHON) && 'needs Python' }, async t => {
  const reader = await open(t);

  await t.test('the log of a start', t => {
    const [sample = ''] = blocks('').filter(text => text.includes(' - INFO - host: '));
    for (const line of sample.trimEnd().split('\n')) {
      const words = line.slice(line.indexOf(' - ')).split(/\d+/);
      const pattern = words.map(word => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\d+');
      t.ok(new RegExp(pattern).test(reader.log), line);
    }
    t.end();
  });

  await t.test('look and act', async t => {
    const output = await reader.type(take(/process\/processes/));
    t.match(output, /"process_name":"Example Worker"/);
    t.match(output, /"status":"running".*"healthy":true/);
    t.match(output, /item 1 done/);
    t.match(output, /Service restarted successfully/);
  });

  await t.test('a service of your own, and its file', async t => {
    const output = await reader.type(take(/"enabled": true/));
    t.match(output, /"persisted":true/);
    t.match(output, /Service started successfully/, output);
    const changed = await reader.type(take(/config\/service-config/));
    t.match(changed, /"changed"|updated/, changed);
    t.equal(
      await readFile(path.join(reader.configDir, 'files.json'), 'utf8'),
      '{ "level": "debug" /* or debug */ }\n',
      'only the value has changed',
    );
  });

  await t.test('known services, and what is missing for one', async t => {
    const output = await reader.type(take(/core_services": \[\{"name": "sonarr"/));
    const [claim = ''] = blocks('').filter(text => text.startsWith('Sonarr TV cannot be installed'));
    t.ok(output.includes('"key":"sonarr"'));
    const [before = '', after = ''] = claim.trim().split(/\([A-Z]+\)/);
    t.ok(before !== '' && output.includes(before) && output.includes(after), `the refusal that it shows: ${output}`);
  });

  await t.test('what needs what', async t => {
    const drawn = await reader.type(take(/stackwarden graph 'Example Worker'/));
    t.equal(
      drawn,
      blocks('mermaid').find(text => text.includes('wait_for_url')),
    );
  });

  await t.test('metrics and their history', async t => {
    const command = take(/metrics\/history\/storage/);
    const [, chart, storage] = await until(async () => {
      const lines = (await reader.type(command)).trim().split('\n');
      const { dumb_managed: managed } = JSON.parse(lines[0] ?? '');
      return managed.some(({ name }: { name: string }) => name === 'Example Web') && lines;
    });
    t.equal(JSON.parse(chart ?? '').timestamps.length, JSON.parse(chart ?? '').items.length);
    t.equal(JSON.parse(storage ?? '').sqlite.path, path.join(reader.configDir, 'metrics', 'metrics.sqlite'));
    const { metrics } = (await reader.ask('/config')).dumb as { metrics: Record<string, unknown> };
    t.match(metrics, { history_interval_sec: 5, history_retention_days: 7, history_max_total_mb: 100 });
  });

  await t.test('what is known from elsewhere', async t => {
    const [, table = ''] = README.split('## What you know from elsewhere');
    const rows = [...(table.split('\n## ')[0]?.matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm) ?? [])].slice(2);
    t.ok(rows.length > 25, `${rows.length} rows`);
    const words = rows.flatMap(([, , , here = '']) => [...here.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word));
    const schema = await reader.ask('/config/schema');
    const { paths } = (await reader.ask('/openapi.json')) as { paths: Record<string, Record<string, unknown>> };
    for (const word of words) {
      const [first = '', second = ''] = word.split(' ');
      if (first === 'stackwarden')
        await t.resolves(parseCommandLine(argumentsOf(word), { STACKWARDEN_CONFIG_DIR: reader.configDir }), word);
      else if (/^[A-Z]+$/.test(first)) t.ok(paths[second]?.[first.toLowerCase()], word);
      else t.ok(hasKey(schema, word.startsWith('dumb.') ? word : `example_web.${word}`), word);
    }
  });

  await t.test('a plugin', async t => {
    const [source = ''] = blocks('js');
    await mkdir(path.join(reader.configDir, 'plugins', 'hello'), { recursive: true });
    await writeFile(path.join(reader.configDir, 'plugins', 'hello', 'index.js'), source);
    await until(async () => 'text' in (await reader.ask('/hello')), { timeoutMs: 60_000 });
    const output = await reader.type(take(/8000\/hello/));
    t.match(output, /"text":"Hello, \d+ processes run"/);
    t.match(output, /"name":"hello"/);
  });

  await t.test('the commands that only look', async t => {
    const listed = take(ELSEWHERE['test/core/cli/command-line.test.ts'] ?? /$/);
    for (const command of ['check', 'plugins', 'health', 'graph']) t.match(listed, `npx stackwarden ${command} `);
    t.match(await reader.type('npx stackwarden plugins --config-dir .stackwarden'), /^hello +ready/m);
    const health = () => reader.type('npx stackwarden health --config-dir .stackwarden');
    t.ok(await until(async () => /^healthy/.test(await health()), { what: 'the restart of what crashes' }));
  });

  await t.test('an upgrade keeps the services, and a template of your own is known then', async t => {
    const [template = ''] = blocks('json').filter(text => text.includes('"key": "finder"'));
    const folder = path.join(reader.configDir, 'templates', 'services');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'finder.json'), template);
    const pid = await reader.pidOf('Files');
    t.match(await reader.type(take(/keep_services/)), /"persisted":false/);
    await reader.stop();
    await reader.start();
    await until(async () => (await reader.ask('/process/service-status?process_name=Files')).status === 'running');
    t.equal(await reader.pidOf('Files'), pid);
    t.equal((await reader.ask('/config/schema')).type, 'object');
    const body = `'{"core_services": [{"name": "finder"}]}'`;
    const start = `curl -H 'content-type: application/json' http://127.0.0.1:8000/process/start-core-service -d ${body}`;
    t.match(await reader.type(start), /"status":"started"/);
  });

  await t.test('the assistant', async t => {
    const shown = await reader.type(take(/\/ai\/diagnose/));
    t.match(shown, /"process_name":"Example Crasher".*"dry_run":true/);
    t.match(shown, /"provider":"ollama".*"model":"llama3\.2"/);
  });

  await t.test('a login', async t => {
    t.match(await reader.type(take(/auth\/setup/)), /"access_token"/);
    t.match(await reader.ask('/process/processes'), { detail: 'Authentication required' });
    t.match(
      await reader.type('npx stackwarden graph --config-dir .stackwarden'),
      /set STACKWARDEN_TOKEN to the access/,
    );
  });

  await t.test('nothing else is shown', async t => {
    for (const [test, sign] of Object.entries(ELSEWHERE)) if (test !== 'test/core/cli/command-line.test.ts') take(sign);
    t.same([...left], []);
    for (const test of Object.keys(ELSEWHERE).filter(name => name.endsWith('.ts')))
      t.ok(existsSync(new URL(`../${test}`, import.meta.url)), test);
  });
});
