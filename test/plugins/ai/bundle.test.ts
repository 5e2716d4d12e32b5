// The parts of a diagnostic bundle: its time window, the logs it includes, sources that fail or hang, and its size
// limit.
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { EvidenceSource, EvidenceTarget } from '../../../plugins/ai/contract.ts';
import { buildBundle } from '../../../plugins/ai/diagnosis/bundle.ts';
import { evidenceWindow } from '../../../plugins/ai/diagnosis/evidence-window.ts';
import { gather } from '../../../plugins/ai/diagnosis/gathering.ts';
import { cutText, fitBundle } from '../../../plugins/ai/diagnosis/size-limit.ts';
import { logTargets } from '../../../plugins/ai/diagnosis/targets.ts';
import type { LedgerEntry, LedgerQuery } from '../../../plugins/ai/ledger/change-ledger.ts';

const NOW = Date.UTC(2026, 0, 10);
const HOUR_MS = 3_600_000;

const target = (processName: string, more: Partial<EvidenceTarget> = {}): EvidenceTarget => ({
  processName,
  path: [processName.toLowerCase()],
  configKey: processName.toLowerCase(),
  instanceName: null,
  enabled: true,
  status: 'running',
  healthy: true,
  ...more,
});

const change = (agoMs: number, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  id: 1,
  at: new Date(NOW - agoMs).toISOString(),
  timestamp: (NOW - agoMs) / 1_000,
  process_name: null,
  event_type: 'config_change',
  source: 'dumb_config',
  actor: null,
  summary: '',
  details: { changes: [{ path: 'app.port' }] },
  ...more,
});

/** A ledger that gives these changes, the newest first. */
const ledgerOf = (...changes: readonly LedgerEntry[]) => ({
  list: async ({ fromMs = 0 }: LedgerQuery = {}) => changes.filter(({ timestamp }) => timestamp * 1_000 >= fromMs),
});

t.test('the window and its baseline follow the request and the last change', async t => {
  const request = { hours: 2, scope: 'service' as const, targets: [target('App')], nowMs: NOW };
  const [from, to] = [NOW - 2 * HOUR_MS, NOW];
  t.same(await evidenceWindow(ledgerOf(change(HOUR_MS)), { ...request, comparison: 'none' }), {
    current: { fromMs: from, toMs: to },
    baseline: null,
    comparison: 'none',
    boundary: null,
  });
  t.same(await evidenceWindow(ledgerOf(), { ...request, comparison: 'since_change' }), {
    current: { fromMs: from, toMs: to },
    baseline: { fromMs: from - 2 * HOUR_MS, toMs: from },
    comparison: 'previous_period',
    boundary: null,
  });
  const since = (...changes: LedgerEntry[]) =>
    evidenceWindow(ledgerOf(...changes), { ...request, comparison: 'since_change' });
  const own = change(HOUR_MS);
  const at = NOW - HOUR_MS;
  t.match(
    await since(
      change(60_000, { source: 'ai_settings' }),
      change(90_000, { details: { changes: [{ path: 'other.port' }] } }),
      own,
    ),
    {
      current: { fromMs: at, toMs: NOW },
      baseline: { fromMs: at - HOUR_MS, toMs: at },
      comparison: 'since_change',
      boundary: own,
    },
  );
  const short = await since(change(60_000, { process_name: 'App', details: {} }));
  t.equal((short.baseline?.toMs ?? 0) - (short.baseline?.fromMs ?? 0), 900_000, 'at least a quarter of an hour');
  t.equal((await since(change(721 * HOUR_MS))).comparison, 'previous_period', 'what is too old is no boundary');
  const prefix = await since(change(60_000, { details: { changes: [{ path: 'application.port' }] } }));
  t.equal(prefix.comparison, 'previous_period', 'another part of the configuration');
});

t.test('logs are read of services that the question names or that are not healthy', async t => {
  const targets = [
    target('Calm'),
    target('Sonarr 4K', { path: ['sonarr', 'instances', '4K'], configKey: 'sonarr' }),
    target('Ill', { healthy: false }),
    target('Gone', { status: 'stopped' }),
    target('Off', { status: 'stopped', enabled: false }),
    target('Odd', { status: 'unknown' }),
  ];
  const names = (question: string) => logTargets(targets, question).map(({ processName }) => processName);
  t.same(names(''), ['Ill', 'Gone', 'Odd']);
  t.same(names('Why is sonarr slow?'), ['Sonarr 4K', 'Ill', 'Gone', 'Odd']);
  t.same(names('is off all right, and calmness?'), ['Off', 'Ill', 'Gone', 'Odd'], 'whole words');
  t.same(names('How is the health of all?'), ['Ill', 'Gone', 'Odd', 'Calm', 'Sonarr 4K']);
  const many = Array.from({ length: 30 }, (_, index) => target(`App ${index}`, { healthy: false }));
  t.equal(logTargets(many, '').length, 12);
});

const anyRequest = () => ({
  scope: 'service' as const,
  targets: [],
  logTargets: [],
  question: '',
  window: { current: { fromMs: 0, toMs: 1 }, baseline: null, comparison: 'none' as const },
  switches: new Set(['logs'] as const),
  maxLogChars: 1,
  maxLogScanBytes: 1,
  maxDocsChars: 1,
  maxServices: 1,
  signal: new AbortController().signal,
});

t.test('a source that fails or hangs costs only its own members', async t => {
  const source = (collect: EvidenceSource['collect'], more: Partial<EvidenceSource> = {}): EvidenceSource => ({
    coverage: { service: {} },
    collect,
    ...more,
  });
  const seen: unknown[] = [];
  const sources: Record<string, EvidenceSource> = {
    good: source(async () => ({ members: { good: 1 }, coverage: { good: true } }), {
      coverage: { service: { good: false } },
    }),
    bad: source(async () => Promise.reject(new Error('it is broken')), { coverage: { service: { bad: false } } }),
    hanging: source(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone')))),
      {
        deadlineMs: 1,
      },
    ),
    stacks: source(async () => ({ members: { stacks: 1 } }), { coverage: { stack: { stacks: 0 } } }),
    off: source(async () => ({ members: { off: 1 } }), { switches: ['logs', 'metrics'] }),
    last: source(
      async ({ gathered }) => {
        seen.push(gathered);
        return { members: {}, recommendations: [{ id: 'x', title: 'X', risk: 'low', action: 'review', reason: 'y' }] };
      },
      { stage: 5 },
    ),
  };
  const list = Object.entries(sources).map(([key, value]) => ({ owner: 'test', key, value }));
  const host = { log: { debug: () => undefined } } as unknown as Parameters<typeof gather>[0];
  const request = anyRequest();
  const gathered = await gather(host, list as unknown as Parameters<typeof gather>[1], request);
  t.match(gathered.members, {
    good: 1,
    bad: { available: false, reason: 'it is broken' },
    hanging: { available: false, timed_out: true },
  });
  t.notOk('stacks' in gathered.members || 'off' in gathered.members);
  t.same(gathered.coverage, { good: true, bad: false });
  t.match(seen, [{ good: 1 }]);
  t.match(gathered.recommendations, [{ id: 'x' }]);
  const gone = new AbortController();
  gone.abort(new Error('nobody waits'));
  await t.rejects(
    gather(host, list as unknown as Parameters<typeof gather>[1], { ...request, signal: gone.signal }),
    /nobody waits/,
  );
});

t.test('long work of sources yields to other work', async t => {
  const happened: string[] = [];
  const busy: EvidenceSource = {
    coverage: { service: {} },
    async collect() {
      happened.push('source');
      setImmediate(() => happened.push('other'));
      const startedMs = performance.now();
      while (performance.now() - startedMs < 6);
      return { members: {} };
    },
  };
  const list = ['a', 'b', 'c'].map(key => ({ owner: 'test', key, value: busy }));
  const host = { log: { debug: () => undefined } } as unknown as Parameters<typeof gather>[0];
  await gather(host, list as unknown as Parameters<typeof gather>[1], anyRequest());
  t.same(happened.slice(0, 5), ['source', 'other', 'source', 'other', 'source']);
});

t.test('a bundle that is too large is cut, the least important parts first', async t => {
  const bundle = {
    question: 'why',
    docs_context: { sources: [{ excerpt: 'd'.repeat(50_000) }] },
    logs: { content: 'l'.repeat(100_000) },
    log_analysis: {
      coverage: {},
      excerpts: Array.from({ length: 40 }, () => ({ content: 'e'.repeat(1_000) })),
      levels: { error: 1 },
    },
    dependency_graph: { nodes: 'g'.repeat(60_000) },
    change_history: Array.from({ length: 100 }, () => 'c'.repeat(500)),
  };
  const size = (limit: number) => JSON.stringify(fitBundle(bundle, limit)).length;
  t.same(fitBundle(bundle, 1_000_000), bundle);
  const exact = JSON.stringify(bundle).length;
  t.same(fitBundle(bundle, exact), bundle, 'it is counted to the character');
  t.not(JSON.stringify(fitBundle(bundle, exact - 1)), JSON.stringify(bundle));
  for (const limit of [250_000, 150_000, 80_000, 30_000]) t.ok(size(limit) <= limit, `${size(limit)} of ${limit}`);
  t.match(fitBundle(bundle, 260_000), {
    docs_context: { sources: [{ excerpt: /\[TRUNCATED 48500 chars\]$/ }] },
    logs: bundle.logs,
  });
  t.match(fitBundle(bundle, 50_000), {
    dependency_graph_note: String,
    log_analysis: { levels: { error: 1 } },
    question: 'why',
  });
  t.equal(cutText('abcdef', 3), 'abc\n[TRUNCATED 3 chars]');
  t.equal(cutText(`ab${'😀'}`, 3), 'ab\n[TRUNCATED 2 chars]', 'no half of a character');
  t.equal(cutText('abc', 3), 'abc');
});

t.test('a whole bundle holds no secret, whatever its sources give', async t => {
  const secret = 'x7Kq2vN9pLw4';
  const blocks = ['App', 'Other'].map(processName => ({
    processName,
    path: [processName.toLowerCase()],
    configKey: processName.toLowerCase(),
    key: processName.toLowerCase(),
    isHost: false,
    block: { enabled: true, password: secret },
  }));
  const store = {
    root: () => ({ app: { password: secret } }),
    blocks: () => blocks,
    findBlock: (name: string) => blocks.find(({ processName }) => processName === name),
  };
  const host = {
    paths: { templatesDir: fileURLToPath(new URL('../../../templates', import.meta.url)) },
    log: { debug: () => undefined },
    use: () => store,
    find: () => undefined,
  } as unknown as Parameters<typeof buildBundle>[0];
  const members = {
    logs: { content: `started with ${secret}\n`.repeat(5_000) },
    database_health: { db_path: '/srv/private/app.db', note: `token=${'y'.repeat(20)}1` },
    service_config: { api_key: 'z'.repeat(12), env: [{ name: 'TOKEN', value: 'w'.repeat(12) }] },
    [secret]: 1,
  };
  const source: EvidenceSource = {
    coverage: { service: { retained_logs: false, config: false, docs: false }, stack: { retained_log_services: 0 } },
    collect: async () => ({
      members,
      coverage: { retained_logs: true, config: true, docs: true },
      recommendations: [{ id: 'x', title: 'X', risk: 'low', action: 'review', reason: `it says ${secret}` }],
    }),
  };
  const sources = [{ owner: 'test', key: 'logs', value: source }] as unknown as Parameters<
    typeof buildBundle
  >[1]['sources'];
  const request = {
    scope: 'service' as const,
    processName: 'App',
    question: `why is ${secret} not right?`,
    preset: '',
    comparison: 'previous_period' as const,
    hours: 24,
    switches: new Set<never>(),
    maxLogChars: 1_000,
    maxLogScanMb: 1,
    maxDocsChars: 1_000,
    maxServices: 60,
    signal: new AbortController().signal,
  };
  const parts = { ledger: ledgerOf(), sources } as unknown as Parameters<typeof buildBundle>[1];
  const bundle = await buildBundle(host, parts, request);
  const text = JSON.stringify(bundle);
  for (const hidden of [secret, 'yyyy', 'zzzz', 'wwww', '/srv/private']) t.notOk(text.includes(hidden), hidden);
  t.match(bundle, {
    process_name: 'App',
    config_key: 'app',
    instance_name: null,
    service_path: 'app',
    question: 'why is [REDACTED] not right?',
    diagnostic_window: { comparison: 'previous_period', boundary_event: null },
    dumb_product: { name: 'DUMB' },
    database_health: { db_path: '[PATH REDACTED]' },
    recommendations: [
      { id: 'x', reason: 'it says [REDACTED]', restart_required: false, automatic_apply_supported: false },
    ],
    diagnostic_coverage: { status: true, retained_logs: true, confidence_hint: 'medium' },
  });
  Object.assign(members, { change_history: `${secret} changed\n`.repeat(300_000) });
  const large = await buildBundle(host, parts, request);
  t.match(large, { change_history_note: String, process_name: 'App' }, 'and it is not too large');
  const stack = await buildBundle(host, parts, { ...request, scope: 'stack' });
  t.match(stack, {
    scope: 'stack',
    dumb_workflow_rules: { authority: String },
    diagnostic_coverage: { confidence_hint: 'low' },
  });
  t.notOk('process_name' in stack);
  await t.rejects(buildBundle(host, parts, { ...request, processName: 'Nobody' }), /'Nobody' is no process_name/);
});
