// A shelf of releases of one service, and what it takes that a host updates from it: a template, a block, and plugins in a
// folder of the test's own.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Test } from 'tap';
import { testDir } from './directory.ts';
import { pluginsDir, type TestHost } from './host.ts';

/** What a release does when it is started. */
const PROGRAMS = {
  good: 'exec sleep 1000',
  exits: 'echo it cannot start; exit 3',
} as const;
type Program = keyof typeof PROGRAMS;

export interface Shelf {
  /** Of the host. */
  readonly configDir: string;
  readonly pluginDirs: readonly string[];
  /** Makes a release the newest. */
  publish(version: string, program?: Program): Promise<void>;
  /** Has the shelf answer everybody with this failure. */
  refuse(status: number, message: string, headers?: Record<string, string>): Promise<void>;
  /** How often it was asked for the newest release. */
  asked(): Promise<number>;
  /** Writes the template, and the present release of a service; gives its block. */
  service(name: string, more?: Record<string, unknown>): Promise<Record<string, unknown>>;
}

export async function makeShelf(t: Test): Promise<Shelf> {
  const root = testDir(t, { releases: {}, config: {}, plugins: { 'own-installs': { 'index.mjs': ENGINE } } });
  const directory = path.join(root, 'releases');
  const release = async (place: string, version: string, program: Program) => {
    await mkdir(place, { recursive: true, mode: 0o755 });
    await writeFile(path.join(place, 'run.sh'), `echo ${version}; ${PROGRAMS[program]}\n`);
    await writeFile(path.join(place, 'version.txt'), version);
  };
  const tell = (content: unknown) => writeFile(path.join(directory, 'latest.json'), JSON.stringify(content));
  const configDir = path.join(root, 'config');
  return {
    configDir,
    pluginDirs: [pluginsDir, path.join(root, 'plugins')],
    async publish(version, program = 'good') {
      await release(path.join(directory, version), version, program);
      await tell({ version, notesUrl: `https://example.org/${version}`, releasesBehind: 1 });
    },
    refuse: (status, message, headers = {}) => tell({ refusal: { status, message, headers } }),
    asked: async () => (await readFile(path.join(directory, 'asked'), 'utf8').catch(() => '')).length,
    async service(name, more = {}) {
      const place = path.join(configDir, 'programs', name);
      await mkdir(path.join(configDir, 'templates', 'services'), { recursive: true });
      await writeFile(
        path.join(configDir, 'templates', 'services', 'gadget.json'),
        JSON.stringify(template(directory)),
      );
      await release(place, 'v1.0.0', 'good');
      return {
        enabled: true,
        process_name: name,
        config_dir: place,
        command: ['sh', 'run.sh'],
        suppress_logging: true,
        stop_grace_seconds: 1,
        ...more,
      };
    },
  };
}

function template(shelf: string): Record<string, unknown> {
  return {
    key: 'gadget',
    displayName: 'Gadget',
    kind: 'optional',
    description: 'A service of a test.',
    links: { repository: 'https://example.org/gadget' },
    instance: 'Default',
    block: {
      enabled: false,
      process_name: 'Gadget',
      command: [],
      config_dir: '',
      auto_update: false,
      auto_update_mode: 'install',
      auto_update_interval: 24,
      auto_update_start_time: '04:00',
      pinned_version: '',
      release_version_enabled: false,
      release_version: 'latest',
      branch_enabled: false,
      branch: 'main',
      commit_sha: '',
    },
    stop: { tier: 1 },
    install: {
      source: 'shelf',
      facts: { shelf },
      directory: '{config_dir}',
      markers: ['run.sh'],
      versionFile: 'version.txt',
    },
  };
}

export const updateStatus = async (app: TestHost, name: string) =>
  (await app.get(`/process/update-status?process_name=${encodeURIComponent(name)}`)).body.update_status;
export const check = (app: TestHost, name: string, force = true) =>
  app.post('/process/update-check', { process_name: name, force });
export const install = (app: TestHost, name: string, more: Record<string, unknown> = {}) =>
  app.post('/process/update-install', { process_name: name, ...more });

const ENGINE = `
  import { appendFile, cp, readFile, rename, rm, stat } from 'node:fs/promises';
  export default { name: 'own-installs', host: '^1', after: ['services', 'process'], setup(host) {
    const { Problem } = host;
    const block = name => host.use('config.store').blocks().find(one => one.processName === name);
    const facts = name => host.use('service.templates').get(block(name)?.configKey)?.install?.facts;
    const dir = name => block(name).block.config_dir;
    const selector = name => {
      const b = block(name).block;
      if (b.pinned_version) return { kind: 'pinned', version: b.pinned_version };
      if (b.commit_sha) return { kind: 'commit', commit: b.commit_sha };
      if (b.branch_enabled) return { kind: 'branch', branch: b.branch };
      if (!b.release_version_enabled || b.release_version === 'latest') return { kind: 'latest' };
      if (['nightly', 'prerelease'].includes(b.release_version)) return { kind: b.release_version };
      return { kind: 'release', release: b.release_version };
    };
    const read = place => readFile(place + '/version.txt', 'utf8').catch(() => null);
    const latest = async (name, given = selector(name)) => {
      const { shelf } = facts(name);
      await appendFile(shelf + '/asked', '.');
      if (given.kind === 'pinned') return { version: given.version, notesUrl: null, releasesBehind: null };
      const { refusal, ...release } = JSON.parse(await readFile(shelf + '/latest.json', 'utf8'));
      if (refusal) throw new Problem(refusal.status, refusal.message, { headers: refusal.headers });
      return release;
    };
    host.provide('installs', {
      isSupported: name => facts(name) !== undefined,
      selector,
      installed: async name => {
        const version = await read(dir(name));
        const sharedWith = host.use('config.store').blocks().filter(one => one.processName !== name && one.block.config_dir === dir(name)).map(one => one.processName);
        return version === null ? null : { version, installedAt: null, previousVersion: await read(dir(name) + '.previous'), sharedWith };
      },
      latest: (name, options = {}) => latest(name, options.selector),
      prepare: async (name, options = {}) => {
        const { version } = await latest(name, options.selector);
        const place = dir(name);
        await rm(place + '.next', { recursive: true, force: true });
        await cp(facts(name).shelf + '/' + version, place + '.next', { recursive: true });
        return {
          version,
          swap: async () => {
            await rm(place + '.previous', { recursive: true, force: true });
            await rename(place, place + '.previous');
            await rename(place + '.next', place);
          },
          discard: () => rm(place + '.next', { recursive: true, force: true }),
        };
      },
      restorePrevious: async name => {
        const place = dir(name);
        await rename(place, place + '.failed');
        await rename(place + '.previous', place);
        await rm(place + '.failed', { recursive: true });
        return { version: await read(place), installedAt: null, previousVersion: null, sharedWith: [] };
      },
      progress: () => undefined,
      obstacle: async () => null,
      installMissing: async () => undefined,
      revision: 0,
    });
  } }`;
