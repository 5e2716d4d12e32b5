// Faults of a readable configuration: `check` and the log name each with its place and what to do.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { pluginsDir, startHost } from '../../support/host.ts';
import { ownLog } from '../../support/own-log.ts';
import { freePort, spawnStackwarden } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

const FAULTY = {
  tz: 'Mars/Olympus',
  data_root: 'data',
  dumb: {
    log_levle: 'DEBUG',
    log_level: 'LOUD',
    log_size: 'ten',
    gateway: { enabled: false },
    auto_restart: { services: [{ process_name: 'Nobody' }] },
    api_service: { trusted_proxies: ['nginx', '192.0.2.0/24'], allowed_hosts: ['*.example', 'media.example'] },
    frontend: { origins: ['media:3005', 'https://media.example'] },
    plugins: { disabled: ['metrics-histry'], dirs: ['/nowhere/plugins'] },
  },
  one: { enabled: true, process_name: 'Same', command: ['sleep', '600'], stop_grace: 3 },
  two: { enabled: true, process_name: 'same', command: ['sleep', '600'] },
  three: { enabled: true, process_name: 'Three', command: ['no-such-program-anywhere'] },
  four: { enabled: true, process_name: 'Four', command: ['sleep', '600'], config_dir: '/nowhere/at/all' },
  five: { enabled: true, process_name: 'Five', comand: ['sleep', '600'] },
  six: { enabled: true, process_name: 'Six', command: ['sleep', '600'], port: 'eighty', stop_signal: 'SIGNUL' },
  seven: {
    enabled: false,
    process_name: 'Seven',
    command: ['echo', '{word}'],
    word: 'used',
    ui: { port_key: 'entrance' },
    entrance: 7_007,
    colour: 'unused',
    // The dependency graph reads this key from any block.
    ports: [7_008],
    mount_dir: '/mnt',
    mount_name: 'seven',
    wait_for_url: { url: 'http://127.0.0.1:7009/', core_service: 'one', core_services: ['two'], service: 'three' },
    wait_for_dir: [{ path: '/srv', service: 'one' }],
  },
  eight: { enabled: true, process_name: 'Eight', command: ['sleep', '600'], wait_for_url: 'http://127.0.0.1:{port}/' },
  nine: { enabled: true, command: ['sleep', '600'] },
  ten: { enabled: true, process_name: 'Ten', command: ['sleep', '600'], log_level: 'LOUD' },
  eleven: { process_name: 'Eleven', command: ['echo', '{log_level}'], log_level: 'LOUD' },
  twelve: { enabled: true, process_name: 'Twelve', command: ['sleep', '600'], depends_on: ['Nobody', 'Nothing'] },
  thirteen: {
    enabled: true,
    process_name: 'Thirteen',
    port: 1,
    command: ['sleep', '6', '{prot}', '{}', '{name}'],
    env: { CHANNEL: 2 ** 63, PORT: 8_080, RATE: 0.5 },
  },
  fourteen: {
    enabled: true,
    process_name: 'Fourteen',
    command: ['sleep', '600'],
    port: 9,
    ui: { port_key: 'web_port' },
  },
  fifteen: {
    enabled: true,
    process_name: 'Fifteen',
    command: ['no-such-program-anywhere', '{prot}', '{hots}'],
    port: 9,
    host: 'a',
    config_dir: '/nowhere/at/all',
    wait_for_url: 'anywhere',
    depends_on: ['Fifteen'],
  },
  sonarr: { instances: { TV: { prt: 8990 } } },
};

/** The messages of both, except those about faults that a start reports in another way. */
const PROBLEMS = [
  /six\.port: .*number.*; Six is disabled until it is mended/,
  /six\.stop_signal: .*its default is used until it is mended/,
  /two: the name 'Same' is that of one; give each its own process_name/,
  /dumb\.log_levle: there is no key 'log_levle'; 'log_level' is probably meant/,
  /dumb\.log_level: it must be one of DEBUG, INFO, .*; its default is used until it is mended/,
  /dumb\.log_size: it must be a size, such as 500K, 10M or 1G; its default is used until it is mended/,
  /data_root: 'data' is relative, so it lies wherever the host was started; give the path from \/ on/,
  /fourteen\.ui\.port_key: the block has no key 'web_port', so its web interface is left out; name the key/,
  /tz: 'Mars\/Olympus' is no known time zone, so schedules follow local time; name one such as/,
  /dumb\.api_service\.trusted_proxies: 'nginx' is no address and no network, so no proxy is trusted by it; give one/,
  /dumb\.api_service\.allowed_hosts: '\*\.example' is no host name, so no request is served by it; give the whole/,
  /dumb\.frontend\.origins: 'media:3005' is no origin, so no page may call the API by it; give one such as https/,
  /dumb\.plugins\.dirs: no plugin is found in \/nowhere\/plugins: .*; correct or remove it/,
  /nine: it has a command and no process_name, so it is no service; give it a process_name/,
  /dumb\.api_service\.log_level: the variable DUMB_API_SERVICE_LOG_LEVEL is ignored until it is mended: .*DEBUG/,
  /ten\.log_level: 'LOUD' is no log level, so INFO is used/,
  /one\.stop_grace: there is no key 'stop_grace'; 'stop_grace_seconds' is probably meant/,
  /five\.comand: there is no key 'comand'; 'command' is probably meant/,
  /sonarr\.instances\.TV\.prt: there is no key 'prt'; 'port' is probably meant/,
  /dumb\.plugins\.disabled: there is no plugin 'metrics-histry'; 'metrics-history' is probably meant/,
  /the variable DUMB_API_SERVICE_ENABLED is not used: dumb\.api_service\.enabled takes true or false; correct/,
  /stackwarden\.yaml is not read, because stackwarden\.json lies beside it; remove one of them/,
];
const ENV = { DUMB_API_SERVICE_ENABLED: 'perhaps', DUMB_API_SERVICE_LOG_LEVEL: 'LOUDEST' };

t.test('check names every problem and exits with 1', async t => {
  const configDir = testDir(t);
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify(FAULTY));
  await writeFile(path.join(configDir, 'stackwarden.yaml'), 'tz: UTC\n');
  const checked = spawnStackwarden(configDir, { args: ['check'], env: ENV });
  t.match(await checked.exited, { code: 1 });
  const problems = checked.stderr().trimEnd().split('\n');
  const expected = [
    ...PROBLEMS,
    /^three: Three cannot start: command no-such-program-anywhere was not found in any directory of PATH; install it/,
    /^four: Four cannot start: config_dir \/nowhere\/at\/all does not exist/,
    /^five: Five cannot start: it has no command; set its key command$/,
    /^eight: Eight cannot start: wait_for_url holds an address that cannot be asked; write it in full/,
    /^twelve: Twelve cannot start: depends_on names Nobody, Nothing, which are no services; correct it$/,
    /^thirteen: Thirteen is started with \{prot\} as it stands; \{port\} is probably meant$/,
    /^thirteen: CHANNEL in the env of Thirteen is a number that has lost digits; write it in quotation marks$/,
    /^fifteen: Fifteen cannot start: wait_for_url holds an address that cannot be asked; write it in full/,
    /^fifteen: Fifteen cannot start: it depends on itself \(Fifteen -> Fifteen\); remove one depends_on$/,
    /^fifteen: Fifteen cannot start: config_dir \/nowhere\/at\/all does not exist/,
    /^fifteen: Fifteen cannot start: command no-such-program-anywhere was not found in any directory of PATH; install it/,
    /^fifteen: Fifteen is started with \{prot\} as it stands; \{port\} is probably meant$/,
    /^fifteen: Fifteen is started with \{hots\} as it stands; \{host\} is probably meant$/,
    /^dumb\.auto_restart\.services: no service is called 'Nobody'; give its process_name$/,
  ];
  for (const line of expected)
    t.ok(
      problems.some(problem => line.test(problem)),
      String(line),
    );
  t.equal(problems.length, expected.length, problems.join('\n'));
  t.match(
    checked.stdout(),
    /^note: seven: nothing reads 'colour'$/m,
    'what commands and other members use is no stranger',
  );
});

t.test('check refuses a directory that holds other files and no configuration', async t => {
  const root = testDir(t, { 'holiday.jpg': '' });
  const foreign = spawnStackwarden(root, { args: ['check'] });
  t.match(await foreign.exited, { code: 1 });
  t.match(foreign.stderr(), /holds other files and no configuration; name the directory with --config-dir/);
});

t.test('two faults in a text give two messages with one place each', async t => {
  for (const [name, text, places] of [
    [
      'stackwarden.json',
      '{\n  "a": 1,,\n  "b": tru\n}\n',
      [
        /stackwarden\.json:2:10: a name in double quotes was expected/,
        /stackwarden\.json:3:8: a value or a name was expected: names and texts stand in double quotes/,
      ],
    ],
    [
      'stackwarden.json',
      '{\n  "a": "secret\n  "b": 1,\n  "c" 2\n',
      [
        /stackwarden\.json:2:8: the closing double quote of a text was expected on its line; /,
        /stackwarden\.json:3:3: a comma was expected before this; /,
        /stackwarden\.json:4:7: a colon was expected between a name and its value; /,
        /stackwarden\.json:5:1: the closing brace \} of an object was expected$/,
      ],
    ],
    ['stackwarden.yaml', 'a: "x\nb: 1\nc: [1\nd: 2\n', [/stackwarden\.yaml:\d+:\d+: /]],
  ] as const) {
    const configDir = testDir(t);
    await writeFile(path.join(configDir, name), text);
    const app = await startHost({ configDir, dryRun: true, plugins: ['config'] });
    const { problems } = await app.host.reviewConfig();
    for (const place of places) t.match(problems.join('\n'), place);
    t.notMatch(problems.join('\n'), /at line/);
    await app.stop();
  }
});

t.test('the log names each problem once per start', async t => {
  const configDir = testDir(t);
  await writeFile(path.join(configDir, 'stackwarden.yaml'), 'tz: UTC\n');
  await mkdir(path.join(configDir, 'log'));
  const app = await startHost({ configDir, config: { ...FAULTY, three: undefined }, env: ENV, plugins: 'all' });
  t.teardown(() => app.stop());
  // Each change loads the configuration again.
  for (const tz of ['UTC', 'Europe/Rome']) await app.post('/config', { updates: { tz } });
  const lines = await ownLog(app);
  for (const expected of [...PROBLEMS, /seven: nothing reads 'colour'/]) {
    t.equal(lines.filter(line => expected.test(line)).length, 1, String(expected));
  }
  const refused = await app.post('/config', { updates: { dumb: { log_level: 'LOUDER' } } });
  t.match(refused, { status: 400, body: { detail: /dumb\.log_level: it must be one of DEBUG, INFO/ } });
});

t.test('a start names the holder of its port at once, and the key that chooses another', async t => {
  const port = await freePort();
  const first = await startHost({ listen: { port }, plugins: ['config'] });
  t.teardown(() => first.stop());
  const configDir = testDir(t);
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify({ dumb: { api_service: { port } } }));
  const second = spawnStackwarden(configDir, { args: ['start', '--plugins', 'config'] });
  const holder = `port ${port} is in use by \\S+ \\(pid ${process.pid}\\); waiting up to 10 s .* dumb.api_service.port`;
  const told = (): boolean => new RegExp(holder).test(second.stdout());
  await until(told, { timeoutMs: 60_000, what: 'the line about the port' });
  second.child.kill('SIGTERM');
  t.ok(await second.exited, holder);
});

t.test('check and the log name entries of a plugin directory that are no plugins', async t => {
  const fine = "export default { name: 'fine', host: '^1', setup () {} }";
  const configDir = testDir(t, {
    plugins: {
      fine: { 'index.js': fine },
      clock: { 'plugin.js': '' },
      'radio.js': '',
      'types.d.ts': '',
      'notes.txt': '',
      '.shared': { 'text.js': '' },
      node_modules: { one: { 'index.js': '' } },
    },
  });
  await writeFile(path.join(configDir, 'stackwarden.json'), '{}');
  const checked = spawnStackwarden(configDir, { args: ['check'] });
  t.match(await checked.exited, { code: 0 });
  const dir = path.join(configDir, 'plugins');
  const otherwise = 'if it is meant to lie there, begin its name with a dot';
  const told = [
    `${dir}/clock is not loaded, because it has no index.js, index.mjs or index.ts: give it one; ${otherwise}`,
    `${dir}/radio.js is not loaded, because a plugin is a folder: move it to ${dir}/radio/index.js; ${otherwise}`,
  ];
  const notes = checked
    .stdout()
    .split('\n')
    .filter(line => line.includes(dir));
  t.same(
    notes,
    told.map(sentence => `note: ${sentence}`),
  );
  const app = await startHost({ configDir, plugins: ['fine'] });
  t.teardown(() => app.stop());
  for (const sentence of told) await until(async () => (await ownLog(app)).some(line => line.includes(sentence)));
});

t.test('check, and the log once, name faulty defaults of a plugin', async t => {
  const plugin = (name: string, contribution: string) => ({
    'index.js': `export default { name: '${name}', host: '^1', setup (host) { const { z } = host; ${contribution} } }`,
  });
  const block = (name: string, member: string, defaults: string) =>
    plugin(
      name,
      `host.contribute('config.block', '${name}', { schema: z.looseObject({ ${member} }), defaults: ${defaults} })`,
    );
  const configDir = testDir(t, {
    plugins: {
      thrower: block('thrower', '', "() => { throw new Error('no paint') }"),
      babbler: block('babbler', '', '() => [{ lid: 1n }]'),
      painter: block(
        'painter',
        'colour: z.string().optional(), size: z.number().optional()',
        'blocks => blocks.map(() => ({ colour: 5, size: 7 }))',
      ),
      section: plugin(
        'section',
        "host.contribute('config.schema', 'x', { path: ['dumb', 'easel'], schema: z.object({ wood: z.enum(['oak']).default('tin') }) })",
      ),
    },
  });
  const config = { kid: { process_name: 'Kid', command: ['sleep', '600'] }, dumb: { gateway: { enabled: false } } };
  await writeFile(path.join(configDir, 'stackwarden.json'), JSON.stringify(config));
  const told = [
    /plugin thrower: its defaults of blocks fail, so these have none: no paint$/,
    /plugin babbler: its defaults of blocks fail, so these have none: config\.block 'babbler' of babbler: defaults gives what the point cannot use/,
    /plugin painter: its default of 'colour' for .* is not used, because it does not fit its schema: it must be text/,
    /dumb\.easel\.wood: /,
  ];
  const checked = spawnStackwarden(configDir, { args: ['check'] });
  t.match(await checked.exited, { code: 1 });
  const problems = checked.stderr().trimEnd().split('\n');
  for (const sentence of told) t.equal(problems.filter(line => sentence.test(line)).length, 1, String(sentence));
  t.equal(problems.length, told.length, problems.join('\n'));
  const app = await startHost({
    configDir,
    config,
    pluginDirs: [pluginsDir, path.join(configDir, 'plugins')],
    plugins: ['config', 'process', 'health', 'thrower', 'babbler', 'painter', 'section'],
  });
  t.teardown(() => app.stop());
  t.match((await app.get('/config')).body.kid, { colour: undefined, size: 7 }, 'what fits is used');
  for (const [name, text] of [
    ['thrower', 'no paint'],
    ['babbler', 'defaults gives what the point cannot use'],
    ['painter', "its default of 'colour'"],
  ] as const) {
    const lines = await until(async () => {
      const found = (await ownLog(app)).filter(line => line.includes(`${name}: `) && line.includes(text));
      return found.length > 0 ? found : undefined;
    });
    t.equal(lines.filter(line => / - ERROR - /.test(line)).length, 1, `${name} is told once`);
  }
});
