// Every fact of the catalogue of services is built: in the template, in a folder of its vendor, or it stands below with the
// reason why not. What installs a service is not compared.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

type Values = Readonly<Record<string, unknown>>;

interface Entry {
  readonly key: string;
  readonly displayName: string;
  readonly aliases?: readonly string[];
  readonly instance?: string;
  readonly block: Values;
  /** Used where the block has no command of its own. */
  readonly command?: readonly string[];
  readonly alternative_command?: readonly string[];
  readonly v2_command?: readonly string[];
  readonly controller: boolean;
  readonly backendLog: boolean;
  readonly stop: { readonly signal: string; readonly seconds: number; readonly tier: number };
  /** What happens before or around the launch, in words. */
  readonly steps: readonly string[];
  readonly variables: readonly { readonly name: string; readonly value: string }[];
  readonly health?: Values;
  readonly databases: readonly Values[];
  readonly needs: readonly string[];
  readonly waits: readonly string[];
  readonly dataLink?: { readonly path: string; readonly under_data_root: string };
  /** Where its version is found, in words. */
  readonly version: readonly string[];
  readonly initialPassword: boolean;
  readonly offers?: readonly string[];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const readJson = async (...place: string[]) => JSON.parse(await readFile(path.join(root, ...place), 'utf8'));

/** Facts that differ or are missing on purpose, as `<key> <fact>`. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'dumb_api_service aliases': 'told in the list of renamed keys',
  'dumb_frontend aliases': 'told in the list of renamed keys',
  'dumb_api_service controller': 'the host itself is not launched',
  'dumb_api_service backendLog': 'the host writes its own log',
  'dumb_api_service health': 'the host itself is not probed',
  'dumb_frontend block.enabled': 'the gateway shows a page of its own until the frontend is installed and enabled',
  'dumb_frontend stop.seconds': 'rule of the interface: 5 s',
  'rclone health': 'asked where --rc is on: plugins/service-rclone',
  'rclone waits': 'the address follows from its provider: plugins/service-rclone',
  'aiostreams databases': 'its address can name a server too',
  'emby databases': 'all in its directory, whatever they are called',
  'jellyfin databases': 'all in its directory, whatever they are called',
  'profilarr databases': 'one entry with the places of both layouts',
  'jellyfin block.log_file': 'its log has the date in its name; the template has the pattern',
  'zilean block.wait_for_tcp': 'it waits for its database as other services do',
  'pgadmin block.setup_password': 'generated',
  'pgadmin command': 'the program that its package installs for this',
};

/** Steps in words, and a text of the product that does them; null with a reason in the comment. */
const STEPS: Readonly<Record<string, string | null>> = {
  '/authelia/authelia config validate --config /config/authelia/configuration.yml': '"config", "validate"',
  'the highest phalanx_db_rest_v<N>.js in the folder replaces the default script': 'phalanx_db_rest_v',
  // A dead one before each start, all at the end of every stop of the whole.
  'unmount leftover mounts of the previous run for mount types rclone and dfs': 'left a dead mount',
  'unmount a leftover FUSE mount at mount_path': 'left a dead mount',
  'unmount a leftover mount at the mount point, create the directory': 'freeMountPlace',
  'flags already present in command are kept; --log-file is removed; infinidysk mounts add --vfs-cache-mode=full --buffer-size=1024M --dir-cache-time=1w --vfs-cache-max-size=5G --vfs-cache-max-age=1w --links --use-cookies; decypharr and infinidysk mounts add --rc --rc-addr and --rc-no-auth unless a user or password flag exists':
    'vfs-cache-max-size',
  'remove stale {config_dir}/Plex Media Server/plexmediaserver.pid': '/Plex Media Server/plexmediaserver.pid',
  'copy /config/server.json to {config_dir}/config/server.json': 'server.json',
  'link {config_dir}/wwwroot to {config_dir}/app/wwwroot': 'app/wwwroot',
  'directory mode 0700, owned by puid:pgid': 'handOver(directory, owner)',
  'stop a server left over on the same data directory': 'findRunningServer',
  'initdb {initdb_args} -U {user} --encoding=UTF8 --locale=C.UTF-8 when postmaster.opts is missing, password by file':
    '--pwfile',
  'run directory mode 0775': '0o775',
  // The server removes its own when it finds that no server uses them.
  'remove stale socket and lock files': null,
  'write config_local.py and link it into the package folder': '"PYTHONPATH"',
  'wait for postgres': '"nonCore": ["postgres"]',
  'bun run --bun migrations/migrate.ts': 'migrations/migrate.ts',
  'start frontend: node dist-node/server.js in {config_dir}/frontend': 'node dist-node/server.js',
  'run backend once with --db-migration; non-zero exit stops both': '--db-migration',
  'run backend; when it ends, stop the frontend and return its exit code': 'exit "$code"',
  'TERM and INT are forwarded to both': 'trap forward TERM INT',
  // The host makes nothing at the root of the file system.
  'link the helper scripts and /.venv at the file system root (absolute paths are compiled in)': null,
};

/** The path in the service's usual directory, unless the catalogue has the placeholder too. */
function inOwnDirectory(file: string, known: readonly Values[], directory: string): string {
  return known.some(database => database.file === file) ? file : file.replace('{config_dir}', directory);
}

/** Values that the catalogue tells in words. */
const IN_WORDS = /[<|]|, |\.\.;| or /;

/** Programs that run beside a service, and what tells that they do; null with a reason in the comment. */
const HELPERS: Readonly<Record<string, string | null>> = {
  pgAgent: '"pgagent"',
  'Plex DBRepair': "TOOL = 'Plex DBRepair'",
};

const { services, helpers } = (await readJson('test/plugins/services/catalogue.json')) as {
  services: Entry[];
  helpers: string[];
};

/** The sources in which vendors may be named, and the rooms that steps are done in. */
async function productText(): Promise<string> {
  const folders = await readdir(path.join(root, 'plugins'), { recursive: true, withFileTypes: true });
  const sources = folders.filter(entry => entry.isFile() && entry.name.endsWith('.ts'));
  const templates = await readdir(path.join(root, 'templates/services'));
  const files = [
    ...sources.map(entry => path.join(entry.parentPath, entry.name)),
    ...templates.map(name => path.join(root, 'templates/services', name)),
  ];
  return (await Promise.all(files.map(file => readFile(file, 'utf8')))).join('\n');
}

function byName(values: Values): [string, unknown][] {
  return Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
}

const product = await productText();
const used = new Set<string>();

for (const entry of services) {
  t.test(entry.key, async t => {
    const template = await readJson('templates/services', `${entry.key}.json`);
    const { launch = {}, stop, health, block } = template;
    const compare = (fact: string, built: unknown, wanted: unknown): void => {
      const name = `${entry.key} ${fact}`;
      if (!Object.hasOwn(EXCEPTIONS, name)) t.same(built, wanted, fact);
      else {
        used.add(name);
        t.notSame(built, wanted, `${fact} is an exception no longer`);
      }
    };
    for (const [option, value] of byName({ ...entry.block, ...block }))
      compare(
        `block.${option}`,
        block[option],
        Object.hasOwn(entry.block, option) ? entry.block[option] : `none; ${value}`,
      );
    compare('name', template.displayName, entry.displayName);
    compare('aliases', template.aliases, entry.aliases);
    compare('instance', template.instance, entry.instance);
    if (entry.command !== undefined) compare('command', launch.command, entry.command);
    if (entry.alternative_command !== undefined)
      compare('alternative', launch.alternative?.command, entry.alternative_command);
    for (const word of entry.v2_command ?? []) t.ok(product.includes(word.replace('{config_dir}/', '')), word);
    compare('controller', launch.asController === true, entry.controller);
    compare('backendLog', launch.hostWritesLog === true, entry.backendLog);
    compare('stop.signal', stop.signal ?? 'SIGTERM', entry.stop.signal);
    compare('stop.seconds', stop.graceSeconds ?? 30, entry.stop.seconds);
    compare('stop.tier', stop.tier, entry.stop.tier);
    const probe = health && {
      path: health.path,
      port_key: health.portKey,
      ...(health.marker && { marker: health.marker }),
      ...(health.jsonKey && { json_key: health.jsonKey }),
    };
    compare('health', probe, entry.health);
    const databases = (template.databases ?? []).map(({ engine, file, name, instanceName, role, when }: Values) => ({
      engine,
      ...(typeof file === 'string' ? { file: inOwnDirectory(file, entry.databases, template.block.config_dir) } : {}),
      ...(name === undefined ? {} : { name }),
      ...(instanceName === undefined ? {} : { instance_name: instanceName }),
      ...(role === undefined ? {} : { role }),
      ...(when === undefined ? {} : { when }),
    }));
    compare('databases', databases, entry.databases);
    const needs = (template.relations?.conditional ?? []).flatMap((need: { needs: string[] }) => need.needs);
    compare('needs', [...new Set(needs)].sort(), entry.needs);
    const waits = (template.waits ?? []).map(({ kind }: Values) => kind);
    compare('waits', [...new Set(waits)], [...new Set(entry.waits)]);
    if (entry.dataLink !== undefined) {
      const { path: place, under_data_root: under } = entry.dataLink;
      t.match(template.dataLinks, [{ path: place, under }], 'the link of its data');
    }
    compare('initialPassword', template.initialPassword !== undefined, entry.initialPassword);
    compare('offers', template.onboarding?.offers, entry.offers);
    compare('version', template.version !== undefined, entry.version.length > 0);
    for (const { name, value } of entry.variables) {
      t.ok(product.includes(name), `${name} is set`);
      const given = (launch.environment ?? []).filter((variable: Values) => variable.name === name);
      if (given.length > 0 && !IN_WORDS.test(value))
        t.ok(
          given.some((variable: Values) => variable.value === value),
          `${name} is ${value}`,
        );
    }
    for (const step of entry.steps) {
      t.ok(Object.hasOwn(STEPS, step), `someone does: ${step}`);
      const evidence = STEPS[step];
      if (typeof evidence === 'string') t.ok(product.includes(evidence), step);
    }
  });
}

t.test('programs beside services', async t => {
  t.same(Object.keys(HELPERS).sort(), [...helpers].sort());
  for (const [name, evidence] of Object.entries(HELPERS)) if (evidence !== null) t.ok(product.includes(evidence), name);
});

t.test('nothing is excepted that the catalogue does not name', async t => {
  t.same(
    Object.keys(EXCEPTIONS).filter(name => !used.has(name)),
    [],
  );
  const steps = new Set(services.flatMap(entry => entry.steps));
  t.same(
    Object.keys(STEPS).filter(step => !steps.has(step)),
    [],
  );
});
