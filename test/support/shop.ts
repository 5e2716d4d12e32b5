// Plugins of a third party: a source of releases, a runtime, and a route that calls the service `installs`. A release
// is a folder; files beside the releases make the source wait or fail.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Test } from 'tap';
import { testDir } from './directory.ts';
import { pluginsDir, startHost, type TestHost } from './host.ts';

type Files = Readonly<Record<string, string>>;

export interface Shop {
  readonly configDir: string;
  readonly pluginDirs: readonly string[];
  /** The folder into which this program is installed. */
  place(name: string): string;
  /** Writes a release and makes it the newest. */
  publish(version: string, files?: Files): Promise<void>;
  /** Makes the source wait until `open` is called. */
  close(): Promise<void>;
  open(): Promise<void>;
  /**
   * Makes the source answer with this failure; null ends that. With a status of 0 it is an Error that is no Problem.
   */
  refuse(refusal: { readonly status: number; readonly detail: string } | null): Promise<void>;
  /** Writes the template of a service `key`. `install` and `more` are further members of it. */
  template(key: string, install?: Record<string, unknown>, more?: Record<string, unknown>): Promise<void>;
  /** A block of such a service, whose folder does not exist yet. */
  block(name: string, more?: Record<string, unknown>): Record<string, unknown>;
}

/** Runs until it is stopped, and prints its release. */
const PROGRAM = 'echo "runs $(cat version.txt)"; exec sleep 1000\n';

export async function makeShop(t: Test): Promise<Shop> {
  const root = testDir(t, {
    shop: {},
    config: { templates: { services: {} } },
    plugins: { 'own-shop': { 'index.mjs': SHOP } },
  });
  const shop = path.join(root, 'shop');
  const configDir = path.join(root, 'config');
  const gate = path.join(shop, 'closed');
  const place = (name: string): string => path.join(root, 'programs', name);
  return {
    configDir,
    pluginDirs: [pluginsDir, path.join(root, 'plugins')],
    place,
    async publish(version, files = {}) {
      for (const [file, text] of Object.entries({ 'run.sh': PROGRAM, ...files })) {
        const target = path.join(shop, version, file);
        await mkdir(path.dirname(target), { recursive: true, mode: 0o755 });
        await writeFile(target, text);
      }
      await writeFile(path.join(shop, 'latest'), version);
    },
    close: () => writeFile(gate, ''),
    open: () => rm(gate, { force: true }),
    refuse: refusal => writeFile(path.join(shop, 'refusal'), JSON.stringify(refusal)),
    template: (key, install = {}, more = {}) =>
      writeFile(
        path.join(configDir, 'templates', 'services', `${key}.json`),
        JSON.stringify({
          key,
          displayName: key,
          kind: 'core',
          description: 'A service of a test.',
          links: {},
          instance: 'Default',
          block: { enabled: false, process_name: key, command: [], config_dir: path.join(root, key, 'default') },
          launch: { command: ['sh', 'run.sh'] },
          program: { from: 'a shop' },
          stop: { tier: 1 },
          ...more,
          install: {
            source: 'shop',
            facts: { shop },
            directory: '{config_dir}',
            markers: ['run.sh', 'version.txt'],
            versionFile: 'version.txt',
            ...install,
          },
        }),
      ),
    block: (name, more = {}) => ({
      enabled: false,
      process_name: name,
      config_dir: place(name),
      suppress_logging: true,
      stop_grace_seconds: 1,
      ...more,
    }),
  };
}

export function startShopHost(shop: Shop, config: Record<string, unknown>, more: object = {}): Promise<TestHost> {
  const { configDir, pluginDirs } = shop;
  return startHost({ configDir, pluginDirs, plugins: ['installs', 'setup', 'services', 'own-shop'], config, ...more });
}

/** Calls a member of the service `installs`. */
export async function ask(app: TestHost, member: string, ...args: readonly unknown[]) {
  return app.post('/desk', { member, args });
}

const SHOP = `
  import { spawn } from 'node:child_process';
  import { access, readFile, writeFile } from 'node:fs/promises';
  import { setTimeout as delay } from 'node:timers/promises';
  const run = (argv, user, signal) => new Promise((resolve, reject) => {
    const child = spawn(argv[0], argv.slice(1), { ...user, signal, killSignal: 'SIGKILL', stdio: 'ignore' });
    child.on('error', reject);
    child.on('close', code => code === 0 ? resolve() : reject(new Error(argv.join(' ') + ' ended with ' + code)));
  });
  export default { name: 'own-shop', host: '^1', setup(host) {
    const { Problem, z } = host;
    const refuse = async shop => {
      const refusal = JSON.parse(await readFile(shop + '/refusal', 'utf8').catch(() => 'null'));
      if (refusal?.status === 0) throw new Error(refusal.detail);
      if (refusal) throw new Problem(refusal.status, refusal.detail);
    };
    const versionOf = async ({ facts: { shop }, selector }) =>
      selector.version ?? selector.release ?? (await readFile(shop + '/latest', 'utf8'));
    host.contribute('install.source', 'shop', {
      source: 'shop',
      async latest(request) {
        await refuse(request.facts.shop);
        return { version: await versionOf(request), notesUrl: null, releasesBehind: null };
      },
      async fetch(request) {
        const { facts: { shop, bytes = 0 }, into, user, signal } = request;
        await request.needSpace(bytes);
        const version = await versionOf(request);
        request.report({ text: 'brings ' + version, percent: 50 });
        while (await access(shop + '/closed').then(() => true, () => false)) await delay(20, undefined, { signal });
        await refuse(shop);
        await run(['cp', '-rT', shop + '/' + version, into], user, signal);
        return { version, files: { 'origin.txt': 'shop' } };
      },
    });
    host.contribute('install.source', 'counter', {
      source: 'counter',
      latest: async request => ({ version: await versionOf(request), notesUrl: null, releasesBehind: null }),
      async fetch(request) {
        const { shop } = request.facts;
        // This source ignores its signal.
        while (await access(shop + '/closed').then(() => true, () => false)) await delay(20);
        await refuse(shop);
        const version = await versionOf(request);
        await writeFile(request.into + '/program', 'echo ' + version + '; exec sleep 1000');
        return { version };
      },
      async place({ directory, facts, version }) {
        // A child that waits until the file is gone, and goes on when its host is killed, as a package manager does.
        const script = 'touch "$3/placing"; while test -e "$3/busy"; do sleep 0.02; done; cp "$1" "$2"';
        await run(['sh', '-c', script, 'sh', directory + '/program', facts.program, facts.shop]);
        if (version === 'v6.6.6') throw new Problem(409, version + ' cannot be placed; choose another');
      },
    });
    host.contribute('install.runtime', 'maker', {
      platform: 'maker',
      async check({ facts }) {
        if (facts.lacks) throw new Problem(400, facts.lacks + ' is missing; get it');
      },
      async build({ directory, user, signal, output, caches, facts }) {
        await output(['makes it']);
        await run(['sh', '-c', 'cd ' + directory + ' && ' + (facts.script ?? 'id -u > made.txt && test -w ' + caches)], user, signal)
          .catch(error => { throw new Problem(500, error.message); });
      },
    });
    const candidates = new Map();
    host.route({ method: 'POST', path: '/desk', summary: 'Asks the service of installations', body: z.object({ member: z.string(), args: z.array(z.any()) }),
      async handle({ body: { member, args } }) {
        const [name] = args;
        if (member === 'swap' || member === 'discard') {
          await candidates.get(name)[member]();
          return { value: null };
        }
        const value = await host.use('installs')[member](...args);
        if (member !== 'prepare') return { value: value ?? null };
        candidates.set(name, value);
        return { value: value.version };
      },
    });
  } }`;
