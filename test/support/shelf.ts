// A source of releases for one kind of service, and what a host needs to update services from it: a template, blocks,
// and a plugin in a third party's folder.
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Test } from 'tap';
import { testDir } from './directory.ts';
import { pluginsDir, type TestHost } from './host.ts';

const NOBODY = 65_534;
/** The release that services have at the start of a test. */
export const FIRST = 'v1.0.0';

/** Shell commands that a release runs when it is started. Each release first writes its version to `data/started`. */
const PROGRAMS = {
  good: 'exec sleep 1000',
  exits: 'echo it cannot start; exit 3',
  /** Runs, but never answers on its port. */
  mute: 'exec sleep 1000',
  /** Ends only by SIGKILL. */
  stubborn: `trap '' TERM; exec sleep 1000`,
  /** Fills its disk when it is stopped. */
  fills: `trap 'n=0; while { true > data/fill-$n; } 2> /dev/null; do n=$((n + 1)); done; exit 0' TERM; while :; do sleep 0.05; done`,
  /** Answers on the port of its block. */
  answers: `exec ${process.execPath} -e "require('http').createServer((_, a) => a.end('ok')).listen(process.env.PORT, '127.0.0.1')"`,
} as const;
type Program = keyof typeof PROGRAMS;

export interface Shelf {
  /** The configuration directory of the host. */
  readonly configDir: string;
  /** The directory of the test's own templates. */
  readonly templatesDir: string;
  /** The folder of the source plugin, for `dumb.plugins.dirs`. */
  readonly sourceDir: string;
  readonly pluginDirs: readonly string[];
  /** Writes a release and makes it the newest. */
  publish(version: string, program?: Program, files?: Readonly<Record<string, string>>): Promise<void>;
  /** Makes the source answer every call with this failure. */
  refuse(status: number, message: string, headers?: Record<string, string>): Promise<void>;
  /** Makes the source wait, also with looks for the newest release, until `open` is called. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** How often the newest release was asked for. */
  asked(): Promise<number>;
  /** Writes the template and the first release of a service, and gives the block of the service. */
  service(name: string, more?: Record<string, unknown>, program?: Program): Promise<Record<string, unknown>>;
  /** The release that is in the folder of a service. */
  present(name: string): Promise<string>;
  /** The release that the service was last started on. */
  started(name: string): Promise<string>;
}

export async function makeShelf(t: Test): Promise<Shelf> {
  const root = testDir(t, { releases: {}, config: {}, plugins: { 'install-shelf': { 'index.mjs': SOURCE } } });
  const [directory, configDir] = [path.join(root, 'releases'), path.join(root, 'config')];
  const templatesDir = path.join(configDir, 'templates', 'services');
  const sourceDir = path.join(root, 'plugins');
  const release = async (place: string, version: string, program: Program) => {
    await mkdir(place, { recursive: true, mode: 0o755 });
    const note = `echo ${version} > data/started`;
    await writeFile(path.join(place, 'run.sh'), `${note}; ${PROGRAMS[program]}\n`);
    await writeFile(path.join(place, `only-in-${version}`), '');
    await writeFile(path.join(place, 'version.txt'), version);
  };
  const tell = (content: unknown) => writeFile(path.join(directory, 'latest.json'), JSON.stringify(content));
  const placeOf = (name: string) => path.join(configDir, 'programs', name);
  const read = async (file: string) => (await readFile(file, 'utf8')).trim();
  return {
    configDir,
    templatesDir,
    sourceDir,
    pluginDirs: [pluginsDir, sourceDir],
    async publish(version, program = 'good', files = {}) {
      await release(path.join(directory, version), version, program);
      for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, version, name), text);
      await tell({ version, notesUrl: `https://example.org/${version}`, releasesBehind: 1 });
    },
    refuse: (status, message, headers = {}) => tell({ refusal: { status, message, headers } }),
    close: () => writeFile(path.join(directory, 'closed'), ''),
    open: () => rm(path.join(directory, 'closed'), { force: true }),
    asked: async () => (await readFile(path.join(directory, 'asked'), 'utf8').catch(() => '')).length,
    async service(name, more = {}, program = 'good') {
      const place = placeOf(name);
      await mkdir(templatesDir, { recursive: true });
      await writeFile(path.join(templatesDir, 'gadget.json'), JSON.stringify(template(directory)));
      await release(place, FIRST, program);
      await mkdir(path.join(place, 'data'));
      await chown(path.join(place, 'data'), NOBODY, NOBODY);
      await chown(place, NOBODY, NOBODY);
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
    present: name => read(path.join(placeOf(name), 'version.txt')),
    started: name => read(path.join(placeOf(name), 'data', 'started')),
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
      clear_on_update: true,
      exclude_dirs: ['data'],
    },
    stop: { tier: 1 },
    version: { from: [{ file: '{config_dir}/version.txt' }] },
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

const SOURCE = `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { access, appendFile, readFile } from 'node:fs/promises';
  import { setTimeout as delay } from 'node:timers/promises';
  export default { name: 'install-shelf', host: '^1', needs: ['installs'], setup(host) {
    const latest = async ({ facts: { shelf }, selector }) => {
      await appendFile(shelf + '/asked', '.');
      while (await access(shelf + '/closed').then(() => true, () => false)) await delay(20);
      if (selector.kind === 'pinned') return { version: selector.version, notesUrl: null, releasesBehind: null };
      const { refusal, ...release } = JSON.parse(await readFile(shelf + '/latest.json', 'utf8'));
      if (refusal) throw new host.Problem(refusal.status, refusal.message, { headers: refusal.headers });
      return release;
    };
    host.contribute('install.source', 'shelf', {
      source: 'shelf',
      latest,
      async fetch(request) {
        const { version } = await latest(request);
        request.report({ text: 'takes ' + version + ' from the shelf', percent: null });
        const args = ['-r', request.facts.shelf + '/' + version + '/.', request.into];
        const [code] = await once(spawn('cp', args, { ...request.user, cwd: '/' }), 'exit');
        if (code !== 0) throw new Error('cp ended with ' + code);
        return { version };
      },
    });
    let release;
    host.route({
      method: 'POST',
      path: '/shelf/hold',
      summary: 'Holds a process until the next call, which names none',
      body: host.z.object({ process_name: host.z.string().optional() }),
      handle: async ({ body }) => {
        release?.();
        if (body.process_name === undefined) return {};
        const until = new Promise(resolve => { release = resolve; });
        await new Promise(begun => host.use('process.supervisor').hold(body.process_name, 'it is on the shelf', () => {
          begun();
          return until;
        }));
        return {};
      },
    });
  } }`;
