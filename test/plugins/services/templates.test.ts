// The templates of the product and of the user, and what they add to the configuration.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';

const isHere = existsSync(new URL('../../../plugins/services/index.ts', import.meta.url));
const folder = fileURLToPath(new URL('../../../templates/services', import.meta.url));

const PROBES = ['config', 'process', 'services', 'wizard'];

t.test(
  'every template and shared option fits its schema, which a start does not look at',
  { skip: !isHere },
  async t => {
    const { optionFact, serviceTemplate } = await import('../../../plugins/services/template.ts');
    const shared = JSON.parse(await readFile(path.join(folder, '../options.json'), 'utf8'));
    for (const [name, fact] of Object.entries(shared)) t.same(optionFact.parse(fact), fact, name);
    for (const file of await readdir(folder)) {
      const template = JSON.parse(await readFile(path.join(folder, file), 'utf8'));
      t.same(serviceTemplate.parse(template), template, file);
    }
  },
);

t.test('every template is used, and makes a valid block', { skip: !isHere }, async t => {
  const app = await startHost({ plugins: ['config', 'process', 'services'] });
  t.teardown(() => app.stop());
  t.same((await app.host.reviewConfig()).problems, [], 'no block is disabled');
  const config = (await app.get('/config')).body;
  const files = await readdir(folder);
  t.equal(files.length, 36);
  for (const file of files) {
    const template = JSON.parse(await readFile(path.join(folder, file), 'utf8'));
    const top = template.key.startsWith('dumb_') ? config.dumb[template.key.slice(5)] : config[template.key];
    const block = template.instance === undefined ? top : top.instances[template.instance];
    t.equal(block?.process_name, template.block.process_name, template.key);
    const missing = Object.keys(template.block).filter(key => !(key in block));
    t.same(missing, [], `${template.key}: every key of its template`);
    for (const option of template.onboarding?.offers ?? [])
      t.ok(option in block, `${template.key}: ${option} is there`);
    const { body: schema } = await app.post('/config/process-config/schema', { process_name: block.process_name });
    // Blocks of the host itself have the values that it runs with.
    if (!template.key.startsWith('dumb_'))
      t.notMatch(JSON.stringify(schema), /"default"/, 'no default that an editor would write');
  }
});

t.test('templates give defaults to instances, and the file wins', { skip: !isHere }, async t => {
  const app = await startHost({
    config: {
      sonarr: { instances: { '4K': { port: 9_001, process_name: 'Mine' }, Other: {}, 'A $& $$': {} } },
      radarr: { process_name: 'Single', command: ['sleep', '1'] },
      infinidysk: { frontend_port: 3_100 },
      plex: { friendly_name: 'Kept', own_key: { a: 1 } },
    },
    plugins: ['config', 'process', 'services'],
    env: { SONARR_INSTANCES_4K_LOG_FILE: '/elsewhere', NZBDAV_BACKEND_PORT: '8081', PLEX_PORT: 'seven' },
  });
  t.teardown(() => app.stop());
  const { body } = await app.get('/config');
  t.same(Object.keys(body.sonarr.instances), ['4K', 'Other', 'A $& $$'], 'the template makes room for what is there');
  t.match(body.sonarr.instances['4K'], {
    process_name: 'Mine',
    port: 9_001,
    enabled: false,
    config_dir: '/sonarr/4k',
    config_file: '/sonarr/4k/config.xml',
    log_file: '/elsewhere',
  });
  t.match(body.sonarr.instances['A $& $$'], {
    config_dir: '/sonarr/a_$&_$$',
    config_file: '/sonarr/a_$&_$$/config.xml',
  });
  t.match(body.sonarr.instances.Other, { process_name: 'Sonarr Other', config_dir: '/sonarr/other' });
  t.same(
    body.radarr,
    { process_name: 'Single', command: ['sleep', '1'], log_file: path.join(app.configDir, 'log', 'single.log') },
    'a block of ones own stays as it is',
  );
  t.match(body.infinidysk, { frontend_port: 3_100, backend_port: 8_081 }, 'a variable under the former name counts');
  t.match(body.plex, { friendly_name: 'Kept', port: 32_400, own_key: { a: 1 } });
  t.same(Object.keys(body.lidarr.instances), ['Default']);

  const file = path.join(app.configDir, 'stackwarden.json');
  await app.post('/config', { process_name: 'Mine', updates: { use_neutarr: true }, persist: true });
  const saved = JSON.parse(await readFile(file, 'utf8'));
  t.same(saved.sonarr.instances['4K'], { port: 9_001, process_name: 'Mine', use_neutarr: true }, 'only what was set');
  t.match(await app.post('/config', { process_name: 'Mine', updates: { use_neutarr: 'yes' } }), {
    status: 400,
    body: { detail: /sonarr\.instances\.4K\.use_neutarr/ },
  });
  t.match(await app.post('/config', { process_name: 'Mine', updates: { no_such: 1 } }), { status: 400 });
});

t.test('a list of an option may hold only what its template says', { skip: !isHere }, async t => {
  const app = await startHost({ plugins: ['config', 'process', 'services'] });
  t.teardown(() => app.stop());
  const save = (updates: object) => app.post('/config', { process_name: 'Seerr', updates });
  t.equal((await save({ exclude_dirs: ['/kept'] })).status, 200);
  for (const exclude_dirs of [[['/kept']], [{ path: '/kept' }], [5]]) {
    const refused = await save({ exclude_dirs });
    t.equal(refused.status, 400, 'it would be cleared');
    t.match(refused.body.detail, /seerr\.instances\.Default\.exclude_dirs.*: it must be text/);
  }
  t.equal((await save({ platforms: [5] })).status, 400);
  const databases = [{ name: 'mine', enabled: true }];
  t.equal((await app.post('/config', { process_name: 'PostgreSQL', updates: { databases } })).status, 200);
});

t.test('a template of the user gives names and links', { skip: !isHere }, async t => {
  const configDir = testDir(t, {});
  const own = path.join(configDir, 'templates', 'services');
  await mkdir(own, { recursive: true });
  const template = {
    key: 'finder',
    displayName: 'Finder',
    kind: 'core',
    description: 'Finds things.',
    links: { repository: 'https://example.org/finder' },
    block: {
      enabled: false,
      process_name: 'Finder',
      port: 7_100,
      command: ['sleep', '600'],
      log_level: 'INFO',
      depth: 3,
    },
    options: { depth: { type: 'integer', minimum: 1, help: 'How deep it looks.' } },
    onboarding: { roles: ['core'], order: 99, offers: ['port', 'depth'] },
    stop: { tier: 2 },
    ui: {},
  };
  await writeFile(path.join(own, 'finder.json'), JSON.stringify(template));
  const rooted = { ...template, key: 'rooted', block: { ...template.block, process_name: 'Rooted' } };
  await writeFile(path.join(own, 'rooted.json'), JSON.stringify({ ...rooted, launch: { asController: true } }));
  await writeFile(path.join(own, 'broken.json'), '{"key":"broken"}');
  await writeFile(path.join(own, 'misnamed.json'), JSON.stringify({ ...template, key: 'other' }));
  const app = await startHost({ configDir, config: {}, plugins: PROBES });
  t.teardown(() => app.stop());
  const { processes } = (await app.get('/process/processes')).body;
  const row = (name: string) => processes.find((entry: { process_name: string }) => entry.process_name === name);
  t.match(row('Finder'), { name: 'Finder', config_key: 'finder', repo_url: 'https://example.org/finder' });
  t.notOk(row('broken'));
  t.notOk(row('Rooted'), 'only the product itself gives a program the rights of the host');
  t.match(row('Sonarr'), { name: 'Sonarr Default', sponsorship_url: 'https://opencollective.com/sonarr' });
  t.match(row('CLI Debrid'), { name: 'CLID', repo_url: 'https://github.com/godver3/cli_debrid' });
  if (existsSync(new URL('../../../plugins/wizard/index.ts', import.meta.url))) {
    const offered = (await app.get('/process/core-services')).body.core_services;
    t.match(offered.at(-1), {
      key: 'finder',
      service_options: { finder: { port: 7_100, depth: 3 } },
      service_option_descriptions: { finder: { depth: 'How deep it looks.' } },
    });
  }
  const text = (await ownLog(app)).join('\n');
  t.match(text, /broken\.json is not used: displayName: /);
  t.match(text, /misnamed\.json is not used: its key is 'other', which must be its name/);
});

t.test('what is no template among those of the user costs no other', { skip: !isHere }, async t => {
  const template = { ...JSON.parse(await readFile(path.join(folder, 'bazarr.json'), 'utf8')), key: 'mine' };
  const services = {
    'mine.json': JSON.stringify({ ...template, displayName: 'Mine', block: { process_name: 'Mine' }, aliases: [] }),
    'deep.json': '['.repeat(101) + ']'.repeat(101),
    'large.json': ' '.repeat(2 ** 20 + 1),
    'folder.json': {},
  };
  const configDir = testDir(t, { templates: { services } });
  const own = path.join(configDir, 'templates', 'services');
  execFileSync('mkfifo', [path.join(own, 'fifo.json')]);
  const app = await startHost({ configDir, plugins: PROBES });
  t.teardown(() => app.stop());
  const { processes } = (await app.get('/process/processes')).body;
  t.ok(processes.some((entry: { config_key: string }) => entry.config_key === 'mine'));
  const text = (await ownLog(app)).join('\n');
  t.match(text, /deep\.json is not used: .* nested deeper than 100/);
  t.match(text, /large\.json is not used: .* is larger than 1048576 bytes/);
  for (const name of ['folder', 'fifo'])
    t.match(text, new RegExp(`${name}\\.json is not used: .* is no regular file; remove it`));
});

t.test('a file in place of the folder of templates costs none of the product', { skip: !isHere }, async t => {
  const configDir = testDir(t, { templates: { services: 'a file' } });
  const app = await startHost({ configDir, plugins: PROBES });
  t.teardown(() => app.stop());
  const { processes } = (await app.get('/process/processes')).body;
  t.ok(processes.some((entry: { config_key: string }) => entry.config_key === 'sonarr'));
  t.match((await ownLog(app)).join('\n'), /no template of .*\/templates\/services is used: .* is a file/);
});
