// Every known service is launched, with its paths moved below a directory of the test, and with a program in place of
// its own that notes how it was started. Command, variables, directory and steps must be those of the catalogue.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { testDir } from '../../support/directory.ts';
import { start, stop } from '../../support/kids.ts';
import { listening, type Run, Stack, serving } from '../../support/service-stack.ts';

type Values = Readonly<Record<string, unknown>>;

interface Variable {
  readonly name: string;
  readonly value: string;
}

interface Entry {
  readonly key: string;
  readonly block: Values;
  readonly command?: readonly string[];
  readonly alternative_command?: readonly string[];
  readonly v2_command?: readonly string[];
  readonly variables: readonly Variable[];
  /** Descriptions of the steps before or during the launch. */
  readonly steps: readonly string[];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const NOBODY = 65_534;
/** The parts of a template that contain paths. */
const MOVED = ['block', 'launch', 'setup', 'install'];
/** Words of the catalogue for a value that differs between machines. */
const ANY_VALUE = /^[0-9a-zA-Z./ _-]{3,}$/;
/** Options without which a service does not start, or which change a variable. */
const OPTIONS: Readonly<Record<string, Values>> = {
  aiostreams: { auth_password: 'twelve letters' },
  // Enabled, because others look for them.
  cli_battery: { enabled: true, autostart: false },
  zilean: { enabled: true, autostart: false },
  authelia: {
    enabled: true,
    autostart: false,
    public_url: 'https://sign-on.example.org',
    cookie_domain: 'example.org',
    notifier: { type: 'smtp' },
  },
  // The same on every machine.
  emby: { use_system_ffmpeg: false },
  cloudflared: { tunnel_token: 'the-token-of-the-tunnel' },
  riven_frontend: { origin: 'https://films.example.org' },
  zurg: { enabled: true, autostart: false, api_key: 'the-key', core_service: 'riven_backend' },
};

const PLEX = { plex_address: 'http://127.0.0.1:32400', plex_token: 'the-token' };

/** Commands that the catalogue describes in words, or for one port only. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  phalanx_db: ['node', 'phalanx_db_rest_v10.js'],
  mediastorm: ['/mediastorm/runtime/mediastorm', '--port', '{port}'],
  pgadmin: ['/pgadmin/venv/bin/pgadmin4'],
  postgres: ['postgres', '-D', '{config_dir}', '-c', 'config_file={config_file}'],
};

/** What a command has in addition, for a mount of a library with its own remote control. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  rclone: [
    '--vfs-cache-mode=full',
    '--buffer-size=1024M',
    '--vfs-cache-max-size=5G',
    '--vfs-cache-max-age=1w',
    '--links',
    '--use-cookies',
    '--rc',
    '--rc-addr=127.0.0.1:PORT',
    '--rc-no-auth',
  ],
};

/** Values that the catalogue describes in words, for the configuration of the test. */
const IN_WORDS: Readonly<Record<string, string>> = {
  'true when log_level is DEBUG, else false': 'false',
  '<comma list>': 'sign-on.example.org,127.0.0.1',
  'sqlite | postgres': 'postgres',
  'true | false': 'true',
  'Host=..;Port=..;Database=..;Username=..;Password=..':
    'Host={postgres_host};Port={postgres_port};Database={postgres_database};Username={postgres_user};Password={postgres_password}',
  '<key of the attached zurg or rclone instance>': 'the-key',
  '<as above>': 'the-key',
  '{mount_dir}/{mount_name}/__all__ of the attached rclone': '{films}/__all__',
  'same mount, or /mnt/debrid/riven for branch builds': '{films}/__all__',
  'same library, or /mnt/debrid/riven for branch builds': '{symlink_library_path}',
  '{origin}, default http://localhost:3000': '{origin}',
  '/pgadmin/venv/bin:${PATH}': '{dir}/pgadmin/venv/bin:{PATH}',
};

/** What a step must have done at the launch, or the title of the test that covers it, or null with a reason. */
type Evidence = ((t: Test, stack: Stack) => unknown) | { readonly test: string; readonly title: string } | null;

const DRIVEN_ALONE = {
  infinidysk: {
    test: 'service-infinidysk/start-steps.test.ts',
    title: 'a migration first, both stopped by one signal, and one that fails ends both',
  },
  deadMount: { test: 'setup/setup.test.ts', title: 'a mount that a crash has left dead is taken off' },
};

const STEPS: Readonly<Record<string, Evidence>> = {
  '/authelia/authelia config validate --config /config/authelia/configuration.yml': async (t, stack) =>
    t.match(
      await stack.before(),
      stack.moved('/authelia/authelia config validate --config /config/authelia/configuration.yml'),
    ),
  'the highest phalanx_db_rest_v<N>.js in the folder replaces the default script': async (t, stack) =>
    t.equal((await stack.run('phalanx_db')).argv[1], 'phalanx_db_rest_v10.js'),
  'unmount leftover mounts of the previous run for mount types rclone and dfs': DRIVEN_ALONE.deadMount,
  'unmount a leftover FUSE mount at mount_path': DRIVEN_ALONE.deadMount,
  'unmount a leftover mount at the mount point, create the directory': {
    test: 'service-rclone/mount-place.test.ts',
    title: 'a mount that an earlier run has left is taken off, and no other',
  },
  'flags already present in command are kept; --log-file is removed; infinidysk mounts add --vfs-cache-mode=full --buffer-size=1024M --dir-cache-time=1w --vfs-cache-max-size=5G --vfs-cache-max-age=1w --links --use-cookies; decypharr and infinidysk mounts add --rc --rc-addr and --rc-no-auth unless a user or password flag exists':
    async (t, stack) => {
      const { argv } = await stack.run('rclone');
      t.ok(argv.includes('--dir-cache-time=10s'), 'the command has it');
      t.notMatch(argv.join(' '), /--log-file|elsewhere|--dir-cache-time=1w/);
    },
  'remove stale {config_dir}/Plex Media Server/plexmediaserver.pid': (t, stack) =>
    t.notOk(existsSync(stack.at('plex/Plex Media Server/plexmediaserver.pid'))),
  'copy /config/server.json to {config_dir}/config/server.json': async (t, stack) =>
    t.same(JSON.parse(await readFile(stack.at('riven/frontend/config/server.json'), 'utf8')), {
      backendUrl: `http://127.0.0.1:${await stack.port('riven_backend.port')}`,
      apiKey: 'the-key-of-riven',
    }),
  'link {config_dir}/wwwroot to {config_dir}/app/wwwroot': async (t, stack) =>
    t.equal(await realpath(stack.at('zilean/wwwroot')), await realpath(stack.at('zilean/app/wwwroot'))),
  'directory mode 0700, owned by puid:pgid': async (t, stack) => {
    const { uid, mode } = await stat(stack.at('postgres_data'));
    t.equal(mode & 0o777, 0o700);
    if (process.getuid?.() === 0) t.equal(uid, NOBODY);
  },
  'stop a server left over on the same data directory': {
    test: 'service-postgres/running-server.test.ts',
    title: 'a database server that runs already',
  },
  'initdb {initdb_args} -U {user} --encoding=UTF8 --locale=C.UTF-8 when postmaster.opts is missing, password by file':
    async (t, stack) => {
      const [line = ''] = (await stack.before()).split('\n').filter(text => text.includes('bin/initdb '));
      for (const word of ['--data-checksums', '-U keeper', '--encoding=UTF8', '--locale=C.UTF-8', '--pwfile'])
        t.ok(line.includes(word), word);
      t.notMatch(line, 'pass ', 'the password is no argument');
    },
  'run directory mode 0775': async (t, stack) => t.equal((await stat(stack.at('run/postgresql'))).mode & 0o777, 0o775),
  // The server itself removes the files when no server uses them.
  'remove stale socket and lock files': null,
  'write config_local.py and link it into the package folder': async (t, stack) => {
    t.match(await readFile(stack.at('pgadmin/data/config_local.py'), 'utf8'), /^DEFAULT_SERVER_PORT = \d+$/m);
    t.equal((await stack.run('pgadmin')).env.PYTHONPATH, stack.at('pgadmin/data'), 'found without a link');
  },
  'wait for postgres': async (t, stack) => {
    const { edges } = (await stack.app.get('/process/dependency-graph?process_name=pgadmin')).body;
    t.match(
      edges.find(({ source, target }: Record<string, string>) => source === 'postgres' && target === 'pgadmin'),
      { classification: 'hard' },
    );
  },
  'bun run --bun migrations/migrate.ts': async (t, stack) =>
    t.match(await stack.before(), '/bun run --bun migrations/migrate.ts'),
  'start frontend: node dist-node/server.js in {config_dir}/frontend': DRIVEN_ALONE.infinidysk,
  'run backend once with --db-migration; non-zero exit stops both': DRIVEN_ALONE.infinidysk,
  'run backend; when it ends, stop the frontend and return its exit code': DRIVEN_ALONE.infinidysk,
  'TERM and INT are forwarded to both': DRIVEN_ALONE.infinidysk,
  // The host creates nothing at the root of the file system.
  'link the helper scripts and /.venv at the file system root (absolute paths are compiled in)': null,
};

/** Programs that run beside a service. */
const HELPERS: Readonly<Record<string, Evidence>> = {
  pgAgent: { test: 'service-pgadmin/service-pgadmin.test.ts', title: 'the helper comes and goes with its service' },
  'Plex DBRepair': {
    test: 'database-repair-plex/repair.test.ts',
    title: 'a server in use is left alone; an idle one is stopped, repaired and started again',
  },
};

const { services, helpers } = JSON.parse(
  await readFile(path.join(root, 'test/plugins/services/catalogue.json'), 'utf8'),
) as { services: Entry[]; helpers: string[] };
const launched = services.filter(({ key }) => key !== 'dumb_api_service');
const needed = ['setup', 'config-files', 'services', ...(await readdir(path.join(root, 'plugins'))).filter(isOfVendor)];
const skip = !needed.every(name => existsSync(path.join(root, 'plugins', name, 'index.ts')));

function isOfVendor(name: string): boolean {
  return name.startsWith('service-');
}

/** The block of a service with free ports, as a part of the configuration. */
async function blockOf(stack: Stack, { key, block }: Entry): Promise<Record<string, unknown>> {
  const own: Record<string, unknown> = { process_name: key, ...OPTIONS[key] };
  for (const option of Object.keys(block)) {
    if (/^(frontend_|backend_)?port$/.test(option)) own[option] = await stack.port(`${key}.${option}`);
    if (option === 'postgres_enabled') own[option] = true;
  }
  return own;
}

async function configOf(stack: Stack): Promise<Record<string, unknown>> {
  const config: Record<string, unknown> = {};
  let frontend: unknown;
  for (const entry of launched) {
    const { instance } = await templateOf(entry.key);
    const block = await blockOf(stack, entry);
    if (entry.key === 'dumb_frontend') frontend = block;
    else config[entry.key] = instance === undefined ? block : { instances: { [instance]: block } };
  }
  const dumb = { frontend, ...PLEX };
  const server = config.postgres as Record<string, unknown>;
  const attached = { enabled: true, autostart: false, core_service: 'riven_backend', api_key: 'the-key' };
  const films = {
    ...attached,
    process_name: 'films',
    key_type: 'RealDebrid',
    mount_dir: stack.dir,
    mount_name: 'films',
  };
  const others = ['AllDebrid', 'Debrid Link', 'TorBox'].map(kind => [
    kind,
    { ...attached, process_name: kind, key_type: kind, mount_dir: stack.dir, mount_name: 'other' },
  ]);
  const { instances } = config.rclone as { readonly instances: { readonly RealDebrid: Values } };
  const mount = {
    ...instances.RealDebrid,
    key_type: 'infinidysk',
    zurg_enabled: false,
    command: [...(launched.find(({ key }) => key === 'rclone')?.command ?? []), '--log-file', '/tmp/elsewhere.log'],
    mount_dir: stack.at('mounts'),
    cache_dir: stack.at('cache'),
  };
  config.rclone = { instances: { films, ...Object.fromEntries(others), RealDebrid: mount } };
  return { puid: NOBODY, pgid: NOBODY, ...config, dumb, postgres: { ...server, user: 'keeper', password: 'pass' } };
}

async function templateOf(key: string): Promise<Record<string, unknown> & { readonly instance?: string }> {
  return JSON.parse(await readFile(path.join(root, 'templates/services', `${key}.json`), 'utf8'));
}

/** Writes templates of the user, and a program for each service. */
async function furnish(stack: Stack): Promise<void> {
  await stack.make();
  for (const { key } of launched) {
    const template = await templateOf(key);
    // Only the product's own template makes its program one of the host.
    if (key === 'rclone') continue;
    for (const part of MOVED.filter(name => name in template)) template[part] = stack.moved(template[part]);
    await writeFile(stack.at('host/templates/services', `${key}.json`), JSON.stringify(template));
  }
}

/** Creates what is installed, or left by an earlier run, before a launch. */
async function prepare(stack: Stack): Promise<void> {
  for (const [file, content] of Object.entries({
    'phalanx_db/phalanx_db_rest_v2.js': '',
    'phalanx_db/phalanx_db_rest_v10.js': '',
    'plex/Plex Media Server/plexmediaserver.pid': '1',
    'profilarr/default/runtime/profilarr': '',
    'infinidysk/version.txt': 'v1.2.3',
    'maintainerr/version.txt': 'v1.2.3',
    'riven/backend/data/settings.json': '{ "api_key": "the-key-of-riven" }',
    'zilean/app/wwwroot/index.html': '',
    'host/authelia/configuration.yml': 'identity_providers:\n  oidc:\n    clients:\n      - client_id: one\n',
    'films/__all__/film': '',
  })) {
    await mkdir(path.dirname(stack.at(file)), { recursive: true });
    await writeFile(stack.at(file), content);
  }
  for (const entry of launched) {
    const directory = String(stack.moved(entry.block.config_dir));
    const { directory: installed } = stack.moved(((await templateOf(entry.key)).install ?? {}) as Values);
    await stack.place(wordsOf(stack, entry, { config_dir: directory, install_dir: installed }), directory);
    // The directory of the database server must be created by the launch.
    if (entry.key === 'postgres') continue;
    await mkdir(directory, { recursive: true });
    await chmod(directory, 0o777);
  }
}

/** The command of the catalogue for the layout that is installed here. */
function wordsOf(stack: Stack, { key, block, ...given }: Entry, values: Values): string[] {
  const words = COMMANDS[key] ?? given.alternative_command ?? given.v2_command ?? given.command ?? block.command;
  const list = typeof words === 'string' ? words.split(' ') : (words as readonly string[]);
  return stack.moved(list).map(word => fill(word, values));
}

function fill(text: string, values: Values): string {
  return text.replaceAll(/\{([A-Za-z_][\w.]*)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Values for all placeholders in the catalogue, for a service that was prepared. */
async function valuesFor(stack: Stack, key: string): Promise<Values> {
  const { config } = (await stack.app.get(`/process?process_name=${key}`)).body as { config: Record<string, unknown> };
  const whole = (await stack.app.get('/config')).body;
  const { instance } = await templateOf(key);
  const { postgres, zilean, cli_battery: battery } = whole;
  const named = (name: string) =>
    [config.postgres_database, config[name]].find(text => text !== '' && text !== undefined);
  return {
    ...config,
    dir: stack.dir,
    films: stack.at('films'),
    PATH: process.env.PATH,
    puid: whole.puid,
    pgid: whole.pgid,
    install_dir: stack.moved(((await templateOf(key)).install ?? {}) as Values).directory,
    postgres_host: '127.0.0.1',
    postgres_port: postgres.port,
    postgres_user: 'keeper',
    postgres_password: 'pass',
    postgres_database: named('postgres_database') ?? key,
    api_port: whole.dumb.api_service.port,
    'zilean.host': zilean.host,
    'zilean.port': zilean.port,
    'cli_battery.port': battery.port,
    'dumb.plex_address': PLEX.plex_address,
    'dumb.plex_token': PLEX.plex_token,
    instance,
  };
}

/** Starts a service, and gives what its program was started with. */
async function launch(stack: Stack, key: string): Promise<Run> {
  const answer = await start(stack.app, key);
  if (answer.status !== 200) throw new Error(`${key}: ${answer.text}`);
  const run = await stack.run(key);
  await stop(stack.app, key);
  return run;
}

async function holds(t: Test, stack: Stack, entry: Entry): Promise<void> {
  const { key, variables } = entry;
  if (key === 'rclone') await serving(t, await stack.port('infinidysk.backend_port'));
  const { directory, argv, env } = await launch(stack, key);
  const values = await valuesFor(stack, key);
  const [program = '', ...rest] = wordsOf(stack, entry, values).filter(word => word !== '/bin/sh');
  const expected = [program.includes('/') ? program : stack.at('bin', program), ...rest];
  t.same(argv.slice(0, expected.length), expected, `${key}: its command`);
  const more = argv.slice(expected.length).map(word => word.replace(/(?<=^--rc-addr=127\.0\.0\.1:)\d+$/, 'PORT'));
  t.same(more, ADDED[key] ?? [], `${key}: nothing else`);
  t.equal(directory, stack.moved(entry.block.config_dir), `${key}: its directory`);
  for (const { name, value } of variables) {
    const words = stack.moved(IN_WORDS[value] ?? value);
    const expected = fill(words, values);
    if (name.endsWith('_TRAEFIK_URL')) t.match(env[name], /^http:\/\/127\.0\.0\.1:\d+$/, `${key}: ${name}`);
    else if (/^</.test(words)) t.match(env[name], ANY_VALUE, `${key}: ${name}`);
    else t.equal(env[name], expected, `${key}: ${name}`);
  }
}

async function shows(t: Test, evidence: Evidence, stack: Stack): Promise<void> {
  if (typeof evidence === 'function') await evidence(t, stack);
  else if (evidence !== null) {
    const text = await readFile(path.join(root, 'test/plugins', evidence.test), 'utf8');
    t.ok(text.includes(`'${evidence.title}'`), evidence.test);
  }
}

t.test('every known service is launched as the catalogue says', { skip, timeout: 300_000 }, async t => {
  const dir = testDir(t, {});
  await chmod(dir, 0o755);
  const stack = new Stack(dir);
  await furnish(stack);
  await prepare(stack);
  const config = await configOf(stack);
  const server = await listening(Number((config.postgres as Values).port));
  t.teardown(() => server.close());
  await stack.open(t, config);
  const [database] = launched.filter(({ key }) => key === 'postgres');
  for (const entry of launched.filter(other => other !== database))
    await t.test(entry.key, t => holds(t, stack, entry));
  server.close();
  await once(server, 'close');
  if (database !== undefined) await t.test('postgres', t => holds(t, stack, database));

  for (const step of new Set(services.flatMap(({ steps }) => steps)))
    await t.test(step, async t => {
      t.ok(Object.hasOwn(STEPS, step), 'something shows it');
      await shows(t, STEPS[step] ?? null, stack);
    });
  t.same(Object.keys(HELPERS).sort(), [...helpers].sort());
  for (const evidence of Object.values(HELPERS)) await shows(t, evidence, stack);
});
