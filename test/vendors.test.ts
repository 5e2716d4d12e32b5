// A vendor is named in its own folder, in templates and in tests. Nowhere else.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { productSources } from './support/product-sources.ts';

const rootDir = fileURLToPath(new URL('..', import.meta.url));

/** Parts of keys that are words of everybody. */
const ORDINARY = new Set([
  'admin',
  'api',
  'backend',
  'battery',
  'cli',
  'db',
  'debrid',
  'dumb',
  'frontend',
  'media',
  'proxy',
  'server',
  'service',
]);
/** The product itself is no vendor. */
const OWN = 'dumb_api_service';
/** Names that are facts of the API. */
const WIRE: Readonly<Record<string, RegExp>> = {
  // What the process of the frontend is called where the file says nothing.
  'core/config/schema.ts': /'DUMB Frontend'/g,
  // The provider of the history is set and told under these words.
  'plugins/metrics-history/settings.ts': /\bpostgresql\b/gi,
  'plugins/metrics-history/wire.ts': /\b(?:last_|probe_)?postgresql(?:_success)?\b/gi,
  // Section, prefix, flag and file of an existing installation.
  'plugins/request-sync/settings.ts': /\bseerr[_-]sync(?:_state)?\b/g,
  // What it administers is that server, whatever else there is.
  'plugins/service-pgadmin/binary-paths.ts': /\bPostgresServer\b|service-postgres\b/g,
  'plugins/service-pgadmin/index.ts': /'postgres\.server'|service-postgres\b/g,
  'plugins/service-pgadmin/registration.ts': /\bPostgresServer\b|service-postgres\b|'postgres'/g,
  // `GET /config/service-ui` tells the file of the routes under this member as well.
  'plugins/service-ui/index.ts': /\btraefik_config\b/g,
  'plugins/service-ui/wire.ts': /\btraefik_config\b/g,
};

interface Vendor {
  /** As a part of the folder's name. */
  readonly slug: string;
  readonly patterns: readonly RegExp[];
}

async function vendors(): Promise<Vendor[]> {
  const directory = path.join(rootDir, 'templates', 'services');
  const files = (await readdir(directory)).filter(name => name.endsWith('.json') && name !== `${OWN}.json`);
  return Promise.all(
    files.map(async name => {
      const { key, aliases = [], displayName } = JSON.parse(await readFile(path.join(directory, name), 'utf8'));
      const words = key.split('_').filter((word: string) => !ORDINARY.has(word));
      const all = new Set<string>([key, ...aliases, displayName, ...words]);
      return { slug: key.replaceAll('_', '-'), patterns: [...all].map(patternOf) };
    }),
  );
}

/** Whole words, whichever way they are joined: `zurg_enabled`, `needsPostgres`, `DMB_TRAEFIK_URL`. */
function patternOf(name: string): RegExp {
  return new RegExp(`(?<![a-z0-9])${name.toLowerCase().replaceAll(/[_ ]/g, '[-_ ]?')}(?![a-z0-9])`, 'i');
}

/** The text as it is, and with a blank between the words of `camelCase`. */
function readings(text: string): readonly [string, string] {
  return [text, text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')];
}

function names(text: string, name: string): boolean {
  return readings(text).some(reading => patternOf(name).test(reading));
}

/**
 * `service-riven` is the folder of `riven_backend` and of `riven_frontend`; one that ends or begins with the
 * vendor's name, such as `metrics-postgres` and `postgres-migration`, is what another area does with it, and
 * `migration-sonarr` says how that service gets to PostgreSQL.
 */
function isOwner(file: string, { slug }: Vendor): boolean {
  const [, folder = ''] = /^plugins\/([^/]+)\//.exec(file) ?? [];
  const [, vendor = ''] = /^service-(.+)/.exec(folder) ?? [];
  if (folder.startsWith('migration-') && slug === 'postgres') return true;
  const isOfAnArea = folder.endsWith(`-${slug}`) || folder.startsWith(`${slug}-`);
  return isOfAnArea || (vendor !== '' && slug.startsWith(`${vendor}-`));
}

t.test('a word is found however it is joined', async t => {
  for (const text of ['zurg_enabled', 'needsZurg', 'ZURG_PORT', 'a zurg.', 'ZurgPart', "['zurg']"])
    t.ok(names(text, 'zurg'), text);
  for (const text of ['zurgery', 'azurg', 'multiplex']) t.notOk(names(text, 'zurg') || names(text, 'plex'), text);
  t.ok(names('the CLI Debrid', 'cli_debrid'));
});

t.test("no vendor's name outside its folder", async t => {
  const all = await vendors();
  t.ok(all.length > 30, 'the templates were read');
  for (const { file, text } of await productSources()) {
    const open = WIRE[file] === undefined ? text : text.replaceAll(WIRE[file], '');
    const texts = readings(open);
    const isNamed = ({ patterns }: Vendor) => patterns.some(pattern => texts.some(text => pattern.test(text)));
    const named = all.filter(vendor => !isOwner(file, vendor) && isNamed(vendor));
    t.same(
      named.map(({ slug }) => slug),
      [],
      file,
    );
  }
});

/** Ordinary words, protocols, and a word of the configuration. */
const ORDINARY_DESTINATIONS = new Set(['apprise', 'custom', 'matrix', 'signal', 'slack', 'smtp', 'teams', 'webhook']);

t.test('no name of a service for notifications outside its folder', async t => {
  const folders = await readdir(path.join(rootDir, 'plugins'));
  const services = folders.flatMap(name => (name.startsWith('notify-') ? [name.slice('notify-'.length)] : []));
  t.ok(services.length > 10, 'the folders were read');
  // Redaction knows secrets by the addresses in which they stand; one service may speak of another on the wire.
  const open = (await productSources()).filter(
    ({ file }) => !/^(?:core\/kit\/secret-(?:names|shapes)\.ts|plugins\/notify-)/.test(file),
  );
  for (const service of services.filter(name => !ORDINARY_DESTINATIONS.has(name))) {
    const naming = open.filter(({ text }) => names(text, service.replaceAll('-', ' ')));
    t.same(
      naming.map(({ file }) => file),
      [],
      service,
    );
  }
});
