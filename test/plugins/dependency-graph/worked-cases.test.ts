// The worked cases in the specification of the graph, by number.
import { existsSync } from 'node:fs';
import t from 'tap';
import { edgesOf, keysOf, startGraph } from '../../support/graph.ts';
import { kid, start } from '../../support/kids.ts';

const skip = !existsSync(new URL('../../../plugins/dependency-graph/index.ts', import.meta.url));

t.test('1: instances of one service are strangers', { skip }, async t => {
  const { of } = await startGraph(t, {
    sonarr: {
      instances: { A: { process_name: 'Sonarr A', enabled: true }, B: { process_name: 'Sonarr B', enabled: true } },
    },
  });
  t.notMatch(edgesOf(await of('Sonarr A', 'all')).join('\n'), 'Sonarr B');
});

t.test('2 and 3: components belong to the core service that they name', { skip }, async t => {
  const { of } = await startGraph(t, {
    riven_backend: { enabled: true },
    rclone: {
      instances: {
        Riven: { process_name: 'Rclone w/ Riven', core_service: 'riven_backend', zurg_enabled: false },
        CLID: { process_name: 'Rclone w/ CLID', core_service: 'cli_debrid', zurg_enabled: false },
      },
    },
  });
  const riven = await of('Riven Backend');
  t.match(
    riven.dependency_rows.find((row: { key: string }) => row.key === 'rclone'),
    { scoped: true, process_count: 1 },
  );
  t.ok(edgesOf(riven).includes('Rclone w/ Riven -> Riven Backend: core_service_fields core_service_map'));
  t.notMatch(edgesOf(riven).join('\n'), 'CLID');
  t.notMatch(edgesOf(await of('Rclone w/ Riven')).join('\n'), '-> Rclone w/ Riven', 'no edge back');
});

t.test('4 and 5: dependencies that the configuration drops', { skip }, async t => {
  for (const [mount, keys] of [
    ['dfs', []],
    ['', []],
    ['external_rclone', ['rclone']],
  ] as const) {
    const { of } = await startGraph(t, { decypharr: { mount_type: mount } });
    t.same(keysOf(await of('Decypharr')), keys, `mount_type '${mount}'`);
  }
  const { of } = await startGraph(t, { riven_backend: { branch_enabled: true } });
  const riven = await of('Riven Backend');
  t.same(riven.context.core.dependencies, ['postgres']);
  t.same(keysOf(riven), ['postgres']);
});

t.test('6: an rclone instance needs its own zurg', { skip }, async t => {
  const { of } = await startGraph(t, {
    zurg: {
      instances: {
        Riven: { process_name: 'Zurg w/ Riven', core_service: 'riven_backend', config_file: '/zurg/a.yml' },
        CLID: { process_name: 'Zurg w/ CLID', core_service: 'cli_debrid', config_file: '/zurg/b.yml' },
      },
    },
    rclone: {
      instances: {
        Riven: {
          process_name: 'Rclone w/ Riven',
          core_service: 'riven_backend',
          zurg_enabled: true,
          zurg_config_file: '',
        },
      },
    },
  });
  const answer = await of('Rclone w/ Riven');
  t.ok(edgesOf(answer).includes('Zurg w/ Riven -> Rclone w/ Riven: conditional_startup_map rclone_provider_zurg'));
  t.notMatch(edgesOf(answer).join('\n'), 'Zurg w/ CLID');
  t.match(answer.dependency_rows, [{ key: 'zurg', scoped: true, process_count: 1 }]);
});

t.test('7: the nearest mount', { skip }, async t => {
  const { of } = await startGraph(t, {
    plex: { enabled: true, wait_for_mounts: ['/mnt/debrid/rclone_RD/'] },
    one: kid('One', ['calm'], { enabled: true, mount_dir: '/mnt/debrid', mount_name: 'rclone_RD' }),
    two: kid('Two', ['calm'], { enabled: true, mount_path: '/mnt/debrid/x' }),
    three: kid('Three', ['calm'], { enabled: true, mount_path: '/mnt' }),
  });
  const needed = edgesOf(await of('Plex Media Server')).filter(edge => edge.includes('-> Plex'));
  t.same(needed, ['One -> Plex Media Server: wait_for_mounts']);
});

t.test('8 and 9: ports of local addresses only', { skip }, async t => {
  const { of } = await startGraph(t, {
    infinidysk: { enabled: true },
    riven_frontend: { enabled: false },
    waiter: kid('Waiter', ['calm'], { wait_for_url: 'http://localhost:3000/' }),
    stranger: kid('Stranger', ['calm'], { wait_for_url: ['http://other-host:8080/', 'no address'] }),
    named: kid('Named', ['calm'], { wait_for_url: { url: 'http://plex:1/', process_name: 'Waiter' } }),
  });
  t.same(edgesOf(await of('Waiter')), ['InfiniDysk -> Waiter: wait_for_url', 'Waiter -> Named: wait_for_url']);
  t.same(edgesOf(await of('Stranger')), []);
  t.same(edgesOf(await of('Named')), ['Plex Media Server -> Named: wait_for_url', 'Waiter -> Named: wait_for_url']);
});

t.test('10, 11 and 12: conditions', { skip }, async t => {
  const { of } = await startGraph(t, {
    bazarr: { enabled: true, postgres_enabled: true },
    sonarr: {
      instances: {
        A: { process_name: 'Sonarr A', enabled: true, postgres_enabled: true },
        B: { process_name: 'Sonarr B', enabled: true },
      },
    },
    tautulli: { enabled: true },
    plex: { enabled: false },
  });
  t.same(keysOf(await of('Bazarr')), ['postgres', 'sonarr']);
  const tautulli = await of('Tautulli');
  t.same([keysOf(tautulli), tautulli.context.mode], [[], 'dependency']);
  t.same(keysOf(await of('Sonarr A')), ['postgres']);
  t.same(keysOf(await of('Sonarr B')), []);
});

t.test('13: relations that contradict each other', { skip }, async t => {
  const { of } = await startGraph(t, {
    infinidysk: { enabled: true },
    rclone: {
      instances: {
        InfiniDysk: {
          process_name: 'Rclone w/ InfiniDysk',
          enabled: true,
          core_service: 'infinidysk',
          key_type: 'infinidysk',
          zurg_enabled: false,
        },
      },
    },
  });
  const answer = await of('InfiniDysk');
  t.same(
    answer.startup_order.map((step: { key: string }) => step.key),
    ['infinidysk', 'rclone'],
  );
  t.equal(answer.cycles.length, 1);
  t.same([...answer.cycles[0]].sort(), ['InfiniDysk', 'Rclone w/ InfiniDysk']);
  t.match(answer.dependency_rows, [{ key: 'rclone', cycle: true }]);
  t.same(edgesOf(answer).sort(), [
    'InfiniDysk -> Rclone w/ InfiniDysk: conditional_startup_map rclone_provider_nzbdav',
    'Rclone w/ InfiniDysk -> InfiniDysk: core_service_fields core_service_map',
  ]);
});

t.test('14, 15 and 16: scopes, states, what is missing', { skip }, async t => {
  const { of } = await startGraph(t, {
    zilean: { enabled: true },
    prowlarr: { instances: { Default: { enabled: true } } },
    postgres: { enabled: true },
    cli_debrid: { enabled: true },
  });
  const runtime = await of('Zilean');
  t.same(edgesOf(runtime), ['PostgreSQL -> Zilean: conditional_startup_map non_core_dependency_map']);
  t.match(runtime.dependency_rows, [{ key: 'postgres', state: 'stopped', starter_process_name: 'PostgreSQL' }]);
  const all = await of('Zilean', 'all');
  const row = all.linked_incoming_rows.find((linked: { process_name: string }) => linked.process_name === 'Prowlarr');
  t.match(row, { signals: ['zilean_optional_integration'], classification: 'linkage', strength: 'soft_linkage' });
  const clid = await of('CLI Debrid');
  t.match(clid.dependency_rows[0], {
    key: 'zurg',
    state: 'missing',
    process_count: 0,
    starter_process_name: null,
    process_name: '',
  });
  t.notMatch(JSON.stringify([clid.nodes, clid.edges]), 'Zurg');
});

t.test('17 and 18: the truth table, and a source that throws', { skip }, async t => {
  const { of } = await startGraph(t, { postgres: { enabled: true } });
  const { dependency_truth_table: table, partial } = await of('PostgreSQL');
  t.same(
    table.map((row: { signal: string }) => row.signal),
    [
      'core_service_map',
      'core_service_fields',
      'wait_for_url',
      'wait_for_dir',
      'wait_for_mounts',
      'rclone_provider_zurg',
      'rclone_provider_decypharr',
      'rclone_provider_nzbdav',
      'zilean_optional_integration',
      'non_core_dependency_map',
      'conditional_startup_map',
      'documented_integration',
    ],
  );
  t.match(table[1], { classification: 'hard', strength: 'hard_configured', description: String, source: 'core' });
  t.equal(partial, false);
});

t.test('19: no secret in the answer', { skip }, async t => {
  const { app } = await startGraph(t, {
    plex: { enabled: true, plex_claim: 'THE-CLAIM' },
    waiter: kid('Waiter', ['calm'], {
      password: 'THE-PASSWORD',
      wait_for_url: [
        { url: 'http://me:THE-PASSWORD@localhost:32400/?token=THE-TOKEN', auth: { user: 'a', password: 'THE-SECRET' } },
      ],
    }),
  });
  const { text } = await app.get('/process/dependency-graph?process_name=Waiter&scope=all');
  t.notMatch(text, /THE-/);
  t.match(text, 'Plex Media Server');
});

t.test('the example of the specification', { skip }, async t => {
  const { app, of } = await startGraph(t, {
    puid: 65_534,
    postgres: kid('PostgreSQL', ['calm'], { enabled: false, config_dir: '/', port: 5_433 }),
    plex: kid('Plex Media Server', ['calm'], { enabled: false, config_dir: '/' }),
    seerr: {
      instances: {
        Main: {
          ...kid('Seerr Main', ['calm'], { enabled: true, config_dir: '/', postgres_enabled: true }),
          wait_for_url: [{ url: 'http://127.0.0.1:32400/identity', core_service: 'plex' }],
        },
      },
    },
  });
  for (const name of ['PostgreSQL', 'Plex Media Server']) t.equal((await start(app, name)).status, 200);
  await app.post('/config', { updates: { postgres: { enabled: true }, plex: { enabled: true } }, persist: false });
  const answer = await of('seerr main');
  t.match(answer, {
    process_name: 'Seerr Main',
    config_key: 'seerr',
    scope: 'runtime',
    context: { mode: 'core', key: 'seerr', core: { key: 'seerr', name: 'Seerr', dependencies: [] } },
    updated_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  });
  const step = { classification: 'hard', strength: 'hard_runtime' };
  t.match(answer.startup_order, [
    { ...step, key: 'plex', label: 'Plex Media Server', state: 'running', process_name: 'Plex Media Server' },
    { ...step, key: 'postgres', label: 'PostgreSQL', state: 'running', signals: ['conditional_startup_map'] },
    { ...step, key: 'seerr', label: 'Seerr', signals: ['core_service_map'], process_name: 'Seerr Main' },
  ]);
  t.same(answer.edges, [
    {
      source: 'Plex Media Server',
      target: 'Seerr Main',
      signals: ['conditional_startup_map', 'wait_for_url'],
      ...step,
    },
    { source: 'PostgreSQL', target: 'Seerr Main', signals: ['conditional_startup_map'], ...step },
  ]);
  t.same(answer.parallel_groups, [
    { id: 'pre_core', label: 'Prerequisites', type: 'parallel', members: ['Plex Media Server', 'PostgreSQL'] },
    { id: 'core_target', label: 'Selected service', type: 'serial', members: ['Seerr Main'] },
  ]);
  t.same(answer.statuses.PostgreSQL, 'running');
  for (const [query, code] of [
    ['', 422],
    ['process_name=%20', 400],
    ['process_name=Seerr+Main&scope=some', 400],
    ['process_name=nobody', 404],
    ['process_name=SEERR&scope=+ALL+', 200],
  ] as const) {
    t.equal((await app.get(`/process/dependency-graph?${query}`)).status, code, query);
  }
});
