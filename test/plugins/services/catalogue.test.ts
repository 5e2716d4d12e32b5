// Every fact in the catalogue of services is in its template or in a plugin of its vendor, or is excepted below with a
// reason. Facts of installations are not compared; launches.test.ts shows the launches.
import { readFile } from 'node:fs/promises';
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
  /** The command when the block has none of its own. */
  readonly command?: readonly string[];
  readonly alternative_command?: readonly string[];
  readonly controller: boolean;
  readonly backendLog: boolean;
  readonly stop: { readonly signal: string; readonly seconds: number; readonly tier: number };
  readonly health?: Values;
  readonly databases: readonly Values[];
  readonly needs: readonly string[];
  readonly waits: readonly string[];
  readonly dataLink?: { readonly path: string; readonly under_data_root: string };
  /** Descriptions of where the version is found. */
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

/** The path in the service's usual directory, unless the catalogue has the placeholder too. */
function inOwnDirectory(file: string, known: readonly Values[], directory: string): string {
  return known.some(database => database.file === file) ? file : file.replace('{config_dir}', directory);
}

const { services } = (await readJson('test/plugins/services/catalogue.json')) as { services: Entry[] };

function byName(values: Values): [string, unknown][] {
  return Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
}

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
  });
}

t.test('each exception names a fact of the catalogue', async t => {
  t.same(
    Object.keys(EXCEPTIONS).filter(name => !used.has(name)),
    [],
  );
});
