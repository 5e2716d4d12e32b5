// A signal from a third party's folder appears in rows, edges and the truth table, and disappears with its folder.
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { testSignalSource } from '../../contracts/signal-source.ts';
import { testDir } from '../../support/directory.ts';
import { edgesOf, keysOf, startGraph } from '../../support/graph.ts';
import { pluginNames, pluginsDir } from '../../support/host.ts';
import { kid } from '../../support/kids.ts';
import { ownLog } from '../../support/own-log.ts';
import { until } from '../../support/until.ts';

const skip = !existsSync(new URL('../../../plugins/dependency-graph/index.ts', import.meta.url));

/** A signal that reads `wait_for_tcp` as the product reads URLs. */
const PORTWAIT = `export default { name: 'portwait', host: '^1', setup(host) {
  host.contribute('dependency.signal', 'portwait_wait_for_tcp', {
    signal: 'portwait_wait_for_tcp', classification: 'hard', strength: 'hard_runtime', description: 'Ports it waits for',
    find: snapshot => ({ relations: snapshot.entries.flatMap(entry => 
      [entry.config.wait_for_tcp ?? []].flat().flatMap(wait => snapshot.listenersOn(wait.port, entry))
        .map(other => ({ dependency: other.processName, dependent: entry.processName }))) }) }) } }`;

const reporting = (
  name: string,
  signal: string,
  find: string,
) => `export default { name: '${name}', host: '^1', setup(host) {
  host.contribute('dependency.signal', '${signal}', { signal: '${signal}', classification: 'hard',
    strength: 'hard_runtime', description: 'A test', find: ${find} }) } }`;

async function open(
  t: Parameters<typeof testDir>[0] & { teardown(fn: () => unknown): void },
  plugins: Record<string, string>,
  others: Record<string, unknown> = {},
) {
  const dir = testDir(t, {});
  for (const [name, source] of Object.entries(plugins)) {
    await mkdir(path.join(dir, name));
    await writeFile(path.join(dir, name, 'index.mjs'), source);
  }
  const config = {
    server: kid('Server', ['calm'], { enabled: false, port: 17_777 }),
    client: kid('Client', ['calm'], { enabled: false, wait_for_tcp: [{ port: 17_777 }] }),
    ...others,
  };
  const base = ['config', 'process', 'services', 'dependency-graph'];
  const signals = (await pluginNames()).filter(name => /^signal-|^service-(rclone|zilean)$/.test(name));
  const graph = await startGraph(t, config, {
    pluginDirs: [pluginsDir, dir],
    plugins: [...base, ...signals, ...Object.keys(plugins)],
  });
  return { ...graph, dir };
}

t.test('the signal counts while its plugin is loaded', { skip }, async t => {
  const { of, dir, app } = await open(t, { portwait: PORTWAIT });
  const edge = 'Server -> Client: portwait_wait_for_tcp';
  const answer = await of('Client');
  t.same(edgesOf(answer), [edge]);
  t.match(answer.linked_outgoing_rows, [{ process_name: 'Server', signals: ['portwait_wait_for_tcp'] }]);
  t.match(
    answer.edges,
    [{ strength: 'hard_configured', classification: 'hard' }],
    'it may not hold a start up by itself',
  );
  t.equal(answer.dependency_truth_table.length, 13);
  t.match(answer.dependency_truth_table[12], { signal: 'portwait_wait_for_tcp', source: 'plugin:portwait' });
  t.same(edgesOf(await of('Server')), [edge]);
  t.same(answer.parallel_groups[0].members, ['Server']);

  await app.post('/config', {
    updates: { dumb: { dependency_graph: { startup_blocking: ['portwait'] } } },
    persist: false,
  });
  await until(async () => (await of('Client')).edges[0]?.strength === 'hard_runtime', { what: 'the operator’s word' });

  await rm(path.join(dir, 'portwait'), { recursive: true });
  await until(async () => (await of('Client')).dependency_truth_table.length === 12, { what: 'the signal to go' });
  t.same(edgesOf(await of('Client')), []);
});

t.test('the signal gets the keys that it asks for, without secrets, and cannot change them', { skip }, async t => {
  const reader = `export default { name: 'reader', host: '^1', setup(host) {
    host.contribute('dependency.signal', 'reader_signal', { signal: 'reader_signal', classification: 'linkage',
      strength: 'soft_linkage', description: 'Reads more', reads: ['release_version', 'api_key', 'env'],
      find: ({ entries }) => { throw new Error(JSON.stringify([entries.map(entry => entry.config),
        Object.isFrozen(entries) && entries.every(entry => Object.isFrozen(entry) && Object.isFrozen(entry.config.wait_for_tcp))])) } }) } }`;
  const { of, app } = await open(t, { reader });
  const env = { HOME: '/x', ACCESS_TOKEN: 'hunter2hunter2' };
  const updates = { client: { release_version: 'v9', api_key: 'hunter2hunter2', env } };
  await app.post('/config', { updates, persist: false });
  const answer = await of('Client');
  const [entries, isFrozen] = JSON.parse(answer.signal_errors[0].error);
  t.match(entries, [Object, { release_version: 'v9', api_key: undefined, env: { HOME: '/x' } }]);
  t.notMatch(answer.signal_errors[0].error, 'hunter2');
  t.ok(isFrozen);
  t.notMatch(JSON.stringify(answer.processes), 'v9', 'an answer shows no more than before');
});

t.test('rows of a third party come after those of the product', { skip }, async t => {
  const need = `({ entriesOf }) => ({ needs: ['server', 'riven_backend'].map(key => ({ dependent: 'Web', key,
    members: entriesOf(key).map(entry => entry.processName) })) })`;
  const others = {
    riven_backend: kid('Backend', ['calm'], { enabled: false }),
    riven_frontend: kid('Web', ['calm'], { enabled: false }),
  };
  const { of } = await open(t, { queue: reporting('queue', 'queue_needs', need) }, others);
  const answer = await of('Web', 'all');
  t.same(keysOf(answer), ['riven_backend', 'server']);
});

t.test('keys of a third party are read and shown as their marks say', { skip }, async t => {
  const keys = `export default { name: 'queues', host: '^1', setup(host) {
    const { z } = host
    const key = relation => z.unknown().optional().meta({ relation })
    host.contribute('config.block', 'queues', { schema: z.looseObject({
      queue_ports: key('port'), broker: key('address'), wait_for_queue: key('wait'), lane: key('shown'), depth: key('read'),
      colour: key('rubbish'), shade: z.string().optional(), pass: key('shown').meta({ secret: true }),
    }) })
    host.contribute('dependency.signal', 'queues_wait', { signal: 'queues_wait', classification: 'hard',
      strength: 'hard_configured', description: 'Queues it waits for', find: snapshot => ({ relations: snapshot.entries
        .flatMap(entry => [entry.config.wait_for_queue ?? []].flat().flatMap(wait => snapshot.listenersOn(wait.port, entry))
        .map(other => ({ dependency: other.processName, dependent: entry.processName }))) }) })
    host.contribute('dependency.signal', 'queues_told', { signal: 'queues_told', classification: 'linkage',
      strength: 'soft_linkage', description: 'What it reads',
      find: ({ entries }) => { throw new Error(JSON.stringify(entries.map(({ config }) => config))) } }) } }`;
  const { of, app, dir } = await open(t, { queues: keys });
  const client = {
    broker: 'hunter2@queue/x',
    wait_for_queue: [{ port: 18_888, token: 'hunter2', url: 'amqp://a:hunter2@localhost/y?z' }],
    lane: 3,
    depth: 4,
    colour: 'red',
    shade: 'dark',
    pass: 'hunter2',
  };
  await app.post('/config', { updates: { server: { queue_ports: [18_888] }, client }, persist: false });
  const answer = await of('Client');
  t.same(edgesOf(answer), ['Server -> Client: queues_wait'], 'at a port that its key tells of');
  const processes: { name: string; config: object }[] = answer.processes;
  const own = processes.filter(({ name }) => name === 'Server' || name === 'Client');
  t.same(Object.fromEntries(own.map(({ name, config }) => [name, config])), {
    Server: { enabled: false, port: 17_777, queue_ports: [18_888] },
    Client: {
      enabled: false,
      wait_for_tcp: [{ port: 17_777 }],
      broker: 'queue/x',
      wait_for_queue: [{ port: 18_888, url: 'amqp://localhost/y' }],
      lane: 3,
    },
  });
  const [read] = answer.signal_errors;
  const told: object[] = JSON.parse(read.error);
  t.match(
    told.find(config => 'lane' in config),
    { lane: 3, depth: 4, colour: undefined, shade: undefined, pass: undefined },
  );
  t.notMatch(JSON.stringify(answer), 'hunter2');

  await rm(path.join(dir, 'queues'), { recursive: true });
  await until(async () => !JSON.stringify(await of('Client')).includes('18888'), { what: 'the keys to go' });
});

t.test('a failing signal is reported, and the others count', { skip }, async t => {
  const { of } = await open(t, {
    thrower: reporting('thrower', 'thrower_signal', "() => { throw new Error('no luck') }"),
    sleeper: reporting('sleeper', 'sleeper_signal', '() => new Promise(() => {})'),
    liar: reporting(
      'liar',
      'liar_signal',
      "() => ({ relations: [{ dependency: 'Server', dependent: 'Nobody' }, { dependency: 'Client', dependent: 'Client' }] })",
    ),
    babbler: reporting('babbler', 'babbler_signal', '() => 42'),
    mumbler: reporting('mumbler', 'mumbler_signal', "() => ({ needs: [{ dependent: 'Client', key: 'server' }] })"),
    painter: reporting('painter', 'painter_signal', 'snapshot => { snapshot.entries = []; return {} }'),
    imposter: reporting('imposter', 'wait_for_everything', '() => ({})'),
    portwait: PORTWAIT,
  });
  const answer = await of('Client');
  t.equal(answer.partial, true);
  t.match(answer.signal_errors, [
    { signal: 'babbler_signal', error: 'its findings are not valid: it must be an object, not a number' },
    { signal: 'mumbler_signal', error: 'its findings are not valid: needs.0.members: it is missing' },
    { signal: 'painter_signal', error: /read only/ },
    { signal: 'sleeper_signal', error: 'it took too long' },
    { signal: 'thrower_signal', error: 'no luck' },
  ]);
  t.notMatch(JSON.stringify(answer.nodes), 'Nobody');
  const told = answer.dependency_truth_table.map((row: { signal: string }) => row.signal);
  t.notOk(told.includes('wait_for_everything'), 'a name that is not its own is not taken');
  await of('Client');
  await of('Client');
  const paused = await of('Client');
  t.match(JSON.stringify(paused.signal_errors), 'it failed again and again and is paused');
});

t.test('a signal may return a plain list of relations', { skip }, async t => {
  const lister = reporting('lister', 'lister_signal', "() => [{ dependency: 'Server', dependent: 'Client' }]");
  const { of } = await open(t, { lister });
  t.same(edgesOf(await of('Client')), ['Server -> Client: lister_signal']);
});

testSignalSource(
  async () => ({
    signal: 'lister_signal',
    classification: 'hard',
    strength: 'hard_configured',
    description: 'A port that a block names',
    find: snapshot =>
      snapshot.entries.flatMap(to =>
        snapshot
          .listenersOn(Number(to.config.frontend_port), to)
          .map(({ processName }) => ({ dependency: processName, dependent: to.processName })),
      ),
  }),
  [
    {
      name: 'a list of relations',
      config: {
        server: { enabled: true, process_name: 'Server', port: 5000 },
        client: { enabled: true, process_name: 'Client', frontend_port: 5000 },
      },
      finds: ['Server -> Client'],
    },
    { name: 'an empty list', config: { server: { process_name: 'Server', port: 5000 } }, finds: [] },
  ],
);

t.test('its name is that of its folder, and no name counts twice', { skip }, async t => {
  const source = (signal: string, key = signal) =>
    `host.contribute('dependency.signal', '${key}', { signal: '${signal}', classification: 'hard',
      strength: 'hard_runtime', description: 'A name', find: () => [{ dependency: 'Server', dependent: 'Client' }] })`;
  const folder = (name: string, ...sources: string[]) =>
    `export default { name: '${name}', host: '^1', setup(host) { ${sources.join('\n')} } }`;
  const { of, app } = await open(t, {
    'signal-acme': folder(
      'signal-acme',
      source('acme_ports'),
      source('acmeports'),
      source('wait_for_url', 'acme_waits'),
      source('depends_on', 'acme_depends'),
    ),
    'signal-acme-ports': folder(
      'signal-acme-ports',
      source('acme_ports', 'acme_more'),
      source('acme_ports_udp'),
      source('signal_acme_ports_tcp'),
    ),
    'signal-wait-for': folder('signal-wait-for', source('wait_for_dir', 'own_dir'), source('wait_for')),
  });
  const answer = await of('Client');
  const table: { signal: string; source: string }[] = answer.dependency_truth_table;
  t.same(
    table.slice(12).map(row => `${row.signal} ${row.source}`),
    [
      'acme_ports plugin:signal-acme',
      'acme_ports_udp plugin:signal-acme-ports',
      'signal_acme_ports_tcp plugin:signal-acme-ports',
      'wait_for plugin:signal-wait-for',
    ],
  );
  t.equal(new Set(table.map(row => row.signal)).size, table.length, 'names of the product stay its own');
  t.same(edgesOf(answer), ['Server -> Client: acme_ports acme_ports_udp signal_acme_ports_tcp wait_for']);
  const told = (await ownLog(app)).filter(line => line.includes('is not used'));
  t.match(told.map(line => line.replace(/.*the dependency signal /, '')).sort(), [
    /^acme_ports of signal-acme-ports is not used: another signal has this name; give it/,
    /acmeports of signal-acme is not used: its name must be acme or begin with acme_, in small letters/,
    /depends_on of signal-acme is not used: its name must be acme or/,
    /wait_for_dir of signal-wait-for is not used: another signal has this name/,
    /wait_for_url of signal-acme is not used/,
  ]);
});

t.test('needs name services that exist, and soft ones stand in no row by key', { skip }, async t => {
  const needer = `export default { name: 'needer', host: '^1', setup(host) {
    const needs = (signal, classification, strength, ...needs) => host.contribute('dependency.signal', signal, {
      signal, classification, strength, description: 'Needs', find: () => ({ needs }) })
    needs('needer_hard', 'hard', 'hard_configured',
      { dependent: 'Client', key: 'server', members: ['Server', 'Nobody', 'Client'] },
      { dependent: 'Client', key: 'nothing', members: [] },
      { dependent: 'Client', key: 'client', members: ['Client'] },
      { dependent: 'Nobody', key: 'client', members: ['Client'] })
    needs('needer_soft', 'linkage', 'soft_linkage', { dependent: 'Server', key: 'client', members: ['Client'] }) } }`;
  const { of, app } = await open(t, { needer });
  const [client, server] = [await of('Client', 'all'), await of('Server', 'all')];
  t.match(client.dependency_rows, [
    { key: 'server', process_count: 1, starter_process_name: 'Server' },
    { key: 'nothing', process_count: 0, starter_process_name: null, state: 'missing' },
  ]);
  t.same(client.dependent_rows, [], 'neither unknown processes nor soft needs');
  t.match(server.dependent_rows, [{ key: 'client', signals: ['needer_hard'], missing_deps: ['server', 'nothing'] }]);
  t.same(server.dependency_rows, []);
  t.same(
    server.startup_order.map(({ key }: { key: string }) => key),
    ['server', 'client'],
  );
  t.match(server.linked_outgoing_rows, [{ process_name: 'Client', signals: ['needer_soft'] }]);
  for (const answer of [client, server, await of('Client'), await of('Server')])
    t.same(
      answer.nodes.map(({ id }: { id: string }) => id),
      ['Client', 'Server'],
    );
  const told = (await ownLog(app)).filter(line => line.includes('are dropped'));
  t.match(told, [/4 relations of the dependency signal needer_hard are dropped/]);
});

t.test('needs count against the most that a signal may give', { skip }, async t => {
  const many = reporting(
    'many',
    'many_needs',
    "() => ({ needs: [{ dependent: 'Client', key: 'server', members: Array(2_001).fill('Server') }] })",
  );
  const { of } = await open(t, { many });
  t.match((await of('Client')).signal_errors, [{ signal: 'many_needs', error: 'it gave more than 2000 relations' }]);
});

t.test('the edges of the whole graph follow the order of the signals', { skip }, async t => {
  const { app } = await open(t, {
    aneed: reporting(
      'aneed',
      'aneed',
      `() => ({ needs: [{ key: 'server', dependent: 'Client', members: ['Server'] }] })`,
    ),
    brelation: reporting(
      'brelation',
      'brelation',
      `() => ({ relations: [{ dependency: 'Client', dependent: 'Server' }] })`,
    ),
  });
  const { body } = await app.get('/process/dependency-graph/whole?scope=all');
  const edges = edgesOf(body).filter(edge => edge.includes('Server'));
  t.same(edges, ['Server -> Client: aneed', 'Client -> Server: brelation']);
});
