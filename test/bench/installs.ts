// The time to unpack releases, against tar and unzip with the same archives, and to install one from a repository,
// against curl and unzip, with the longest pause of the event loop. `--mb 500` sets the size; default: 100 MB.
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { makePlace, startBuilt } from './support/built-host.ts';
import { printFigure } from './support/figures.ts';

const RUNS = 3;
const MB = 1_000_000;
const LARGE_BYTES = 10 * MB;
const SMALL_BYTES = 8_000;
const SMALL_PER_FOLDER = 100;
const given = process.argv.indexOf('--mb');
const megabytes = given === -1 ? 100 : Number(process.argv[given + 1]);
const RELEASE = '/repos/owner/program';
/** Names of the release's files for both architectures. */
const assetNames = ['amd64', 'arm64'].map(arch => `zurg-v1.0.0-linux-${arch}.zip`);

/** A plugin that unpacks and installs by request. */
const ASKING = `export default { name: 'asking', host: '^1', setup (host) {
  const route = (path, handle) => host.route({
    method: 'POST', path, summary: 'x', body: host.z.looseObject({}), response: host.z.any(), handle: ({ body }) => handle(body)
  })
  route('/asking/unpack', async body => {
    await host.use('archives').unpack({ ...body, user: null, signal: new AbortController().signal })
    return {}
  })
  route('/asking/install', async () => {
    const candidate = await host.use('installs').prepare('Zurg')
    await candidate.discard()
    return {}
  })
} }`;

const run = promisify(execFile);
const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-bench-installs-'));
const server = createServer((request, response) => {
  if (request.url === '/file.zip') return void createReadStream(path.join(dir, 'release.zip')).pipe(response);
  const assets = assetNames.map((name, id) => ({ id, name, browser_download_url: 'https://github.com/file.zip' }));
  if (request.url === `${RELEASE}/releases/latest`)
    response.end(JSON.stringify({ tag_name: 'v1.0.0', html_url: null, assets }));
  else response.writeHead(404).end();
}).listen(0, '127.0.0.1');

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begunAt = performance.now();
  await work();
  return performance.now() - begunAt;
};

/**
 * Writes half of the bytes as large files and half as files of a few thousand bytes. The bytes come from a real
 * program, so that they compress as programs do.
 */
async function grow(root: string): Promise<void> {
  const program = await readFile(process.execPath);
  const bytes = (place: number, length: number): Buffer => {
    const start = (place * 7_919) % (program.length - length);
    return program.subarray(start, start + length);
  };
  const half = (megabytes * MB) / 2;
  await mkdir(path.join(root, 'large'), { recursive: true });
  for (let index = 0; index < half / LARGE_BYTES; index += 1)
    await writeFile(path.join(root, `large/${index}`), bytes(index, LARGE_BYTES), { mode: 0o755 });
  for (let index = 0; index < half / SMALL_BYTES; index += 1) {
    const folder = path.join(root, `small/${Math.floor(index / SMALL_PER_FOLDER)}`);
    if (index % SMALL_PER_FOLDER === 0) await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, `${index}.js`), bytes(index, SMALL_BYTES));
  }
}

const tree = path.join(dir, 'tree');
await grow(tree);
const kinds = {
  tar: { pack: ['tar', '-cf'], unpack: (file: string) => ['tar', '-xf', file] },
  'tar.gz': { pack: ['tar', '-czf'], unpack: (file: string) => ['tar', '-xzf', file] },
  'tar.xz': { pack: ['tar', '--use-compress-program=xz -1', '-cf'], unpack: (file: string) => ['tar', '-xJf', file] },
  zip: { pack: ['zip', '-qr'], unpack: (file: string) => ['unzip', '-q', file] },
};
/** A release with one large program, like most releases. */
await writeFile(path.join(tree, 'zurg'), await readFile(process.execPath));
await run('zip', ['-q', path.join(dir, 'release.zip'), 'zurg'], { cwd: tree });
await rm(path.join(tree, 'zurg'));

const { port } = server.address() as AddressInfo;
const mirror = `http://127.0.0.1:${port}`;
const place = await makePlace(configDir => ({
  zurg: {
    instances: {
      Own: {
        enabled: false,
        process_name: 'Zurg',
        config_dir: path.join(configDir, 'zurg'),
        repo_owner: 'owner',
        repo_name: 'program',
      },
    },
  },
  dumb: { install_mirrors: { 'api.github.com': mirror, 'github.com': mirror } },
}));
// The release belongs to the services' user, who must reach the directory.
await chmod(place.configDir, 0o755);
await mkdir(path.join(place.configDir, 'plugins/asking'), { recursive: true });
await writeFile(path.join(place.configDir, 'plugins/asking/index.js'), ASKING);
const plugins = 'archives,asking,install-github-release,installs,process,services,setup';
const host = await startBuilt(place, ['--plugins', plugins], true);

async function compare(
  name: string,
  own: (into: string) => Promise<unknown>,
  other: (into: string) => Promise<unknown>,
) {
  const into = path.join(dir, 'into');
  const runs: number[] = [];
  const baseline: number[] = [];
  const pauses: number[] = [];
  const baselinePauses: number[] = [];
  for (let count = 0; count < RUNS; count += 1) {
    for (const [list, pauseList, work] of [
      [baseline, baselinePauses, other],
      [runs, pauses, own],
    ] as const) {
      await mkdir(into);
      await host.longestPauseMs();
      list.push(await timed(() => work(into)));
      pauseList.push(await host.longestPauseMs());
      await rm(into, { recursive: true });
    }
  }
  printFigure({ name, unit: 'ms', runs, baseline });
  printFigure({ name: `longest pause of the host: ${name}`, unit: 'ms', runs: pauses, baseline: baselinePauses });
}

try {
  for (const [kind, { pack, unpack }] of Object.entries(kinds)) {
    const file = path.join(dir, `archive.${kind}`);
    const [packer = '', ...options] = pack;
    await run(packer, [...options, file, '.'], { cwd: tree });
    const [unpacker = '', ...args] = unpack(file);
    const { size } = await stat(file);
    await compare(
      `${kind} of ${Math.round(size / MB)} MB with ${megabytes} MB / ${unpacker}`,
      into => host.post('/asking/unpack', { archive: file, into }),
      into => run(unpacker, args, { cwd: into }),
    );
    await rm(file);
  }
  await compare(
    'a release fetched and unpacked / curl and unzip',
    () => host.post('/asking/install', {}),
    async into => {
      await run('curl', ['-so', 'release.zip', `${mirror}/file.zip`], { cwd: into });
      await run('unzip', ['-q', 'release.zip'], { cwd: into });
    },
  );
} finally {
  await host.end('SIGTERM');
  server.close();
  await place.remove();
  await rm(dir, { recursive: true, force: true });
}
