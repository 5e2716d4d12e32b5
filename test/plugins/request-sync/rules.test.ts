// The pure rules beside the decision table: fingerprints, groups, primary and subordinates, delayed deletions, and
// labels.
import fc from 'fast-check';
import t from 'tap';
import { judgeSuspects, type Look } from '../../../plugins/request-sync/deletions.ts';
import { fingerprintOf, mediaOf, normalFingerprint } from '../../../plugins/request-sync/fingerprint.ts';
import { groupOf } from '../../../plugins/request-sync/group.ts';
import { adoptLabels } from '../../../plugins/request-sync/labels.ts';
import { networkReason } from '../../../plugins/request-sync/remote-error.ts';
import { type RemoteRequest, readRequest } from '../../../plugins/request-sync/remote-request.ts';
import { retryAtMs } from '../../../plugins/request-sync/retry.ts';
import { syncSection } from '../../../plugins/request-sync/settings.ts';
import { stateFrom } from '../../../plugins/request-sync/state.ts';
import { type Internal, normalAddress, topologyOf } from '../../../plugins/request-sync/topology.ts';

const FINGERPRINT = 'tv:1399:False';
const request = (id: number, status: number, more: Partial<RemoteRequest> = {}): RemoteRequest => ({
  mediaType: 'tv',
  tmdbId: 1399,
  is4k: false,
  tvdbId: null,
  seasons: [],
  updatedAtMs: 0,
  email: null,
  id,
  status,
  ...more,
});

t.test('a fingerprint names a title in a quality', async t => {
  t.equal(fingerprintOf({ mediaType: 'movie', tmdbId: 603, is4k: false }, true), 'movie:603:False');
  t.equal(fingerprintOf({ mediaType: 'tv', tmdbId: 1399, is4k: true }, true), 'tv:1399:True');
  t.equal(fingerprintOf({ mediaType: 'tv', tmdbId: 1399, is4k: true }, false), 'tv:1399:False', 'merged');
  t.equal(normalFingerprint(' movie:603:false'), 'movie:603:False');
  t.equal(normalFingerprint('movie:1'), 'movie:1', 'no fingerprint stays what it is');
  for (const text of ['music:1:False', 'movie:0:False', 'movie:x:False', 'movie:1:False:', ''])
    t.equal(mediaOf(text), undefined, text);
});

t.test('requests are read from answers of any form', async t => {
  const whole = { id: 1, status: 2, type: 'movie', is4k: false, media: { tmdbId: 603 }, seasons: [] };
  t.match(readRequest(whole), { id: 1, mediaType: 'movie', tmdbId: 603 });
  t.match(readRequest({ ...whole, type: 'tv', seasons: [{ seasonNumber: 2 }, {}, { seasonNumber: 0 }] }), {
    seasons: [0, 2],
  });
  for (const updatedAt of ['+123456-01-01T00:00:00.000Z', 'never', 7, '1900-01-01T00:00:00Z'])
    t.match(readRequest({ ...whole, updatedAt }), { updatedAtMs: 0 }, String(updatedAt));
  for (const broken of [
    { ...whole, type: 'music' },
    { ...whole, media: {} },
    { ...whole, id: '1' },
    { ...whole, status: 9 },
    { ...whole, is4k: 'yes' },
    null,
    [],
  ])
    t.equal(readRequest(broken), undefined, JSON.stringify(broken));
});

t.test('a group combines the requests for a title', async t => {
  const rows: [string, RemoteRequest[], object][] = [
    ['one', [request(1, 2)], { wish: 'approved', ids: [1], seasons: [] }],
    [
      'seasons of two users',
      [request(2, 2, { seasons: [2] }), request(1, 2, { seasons: [1] })],
      { ids: [1, 2], seasons: [1, 2] },
    ],
    ['approved over pending', [request(1, 1), request(2, 2)], { wish: 'approved' }],
    ['pending over declined', [request(1, 3), request(2, 1)], { wish: 'pending' }],
    ['failed and completed were approved', [request(1, 4), request(2, 1)], { wish: 'approved' }],
    ['completed', [request(1, 5)], { wish: 'approved' }],
    [
      'declined seasons are not wanted',
      [request(1, 3, { seasons: [1] }), request(2, 2, { seasons: [2] })],
      { seasons: [2] },
    ],
    ['all declined', [request(1, 3, { seasons: [1] })], { wish: 'declined', seasons: [] }],
    [
      'whose it is',
      [request(1, 3, { email: 'a' }), request(2, 2, { email: 'b' }), request(3, 2, { email: 'c' })],
      { email: 'b' },
    ],
  ];
  for (const [what, requests, expected] of rows) t.match(groupOf(FINGERPRINT, requests, true), expected, what);
  const lists = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.array(fc.integer({ min: 0, max: 5 }))), {
    minLength: 1,
  });
  t.doesNotThrow(
    () =>
      fc.assert(
        fc.property(lists, fc.nat(), (members, turn) => {
          const requests = members.map(([status, seasons], index) => request(index + 1, status, { seasons }));
          const turned = [...requests.slice(turn % requests.length), ...requests.slice(0, turn % requests.length)];
          return (
            JSON.stringify(groupOf(FINGERPRINT, requests, true)) === JSON.stringify(groupOf(FINGERPRINT, turned, true))
          );
        }),
      ),
    'in whatever order they are read',
  );
});

t.test('the configuration gives the primary and its subordinates', async t => {
  const key = { api_key: 'k' };
  const external = { enabled: true, url: 'http://one/', ...key };
  const follower = { url: 'http://two/requests/', ...key };
  const internal = (name: string, role: 'primary' | 'subordinate', more: Partial<Internal> = {}): Internal => ({
    name,
    role,
    port: 5055,
    apiKey: 'k',
    ...more,
  });
  const rows: [string, object, Internal[], string[], RegExp | undefined, string[]][] = [
    [
      'external',
      { external_primary: external, external_subordinates: [follower] },
      [],
      ['http://two/requests'],
      undefined,
      [],
    ],
    [
      'internal',
      {},
      [internal('A', 'primary'), internal('B', 'subordinate', { port: 5056 })],
      ['internal:B'],
      undefined,
      [],
    ],
    ['two primaries', {}, [internal('A', 'primary'), internal('B', 'primary')], [], /more than one/, []],
    ['both kinds', { external_primary: external }, [internal('A', 'primary')], [], /choose one/, []],
    ['no primary', { external_subordinates: [follower] }, [], ['http://two/requests'], /no primary/, []],
    [
      'no key',
      { external_primary: { ...external, api_key: ' ' }, external_subordinates: [follower] },
      [],
      ['http://two/requests'],
      /needs its url/,
      [],
    ],
    [
      'a key with a sign that nobody sees',
      { external_primary: { ...external, api_key: 'k\u200B' }, external_subordinates: [follower] },
      [],
      ['http://two/requests'],
      /the api_key of the external primary holds signs that no key has; copy it anew/,
      [],
    ],
    [
      'such a key of subordinates',
      { external_primary: external, external_subordinates: [{ ...follower, api_key: 'k\u200B', label: 'Two' }] },
      [internal('B', 'subordinate', { apiKey: 'ключ' })],
      ['internal:B'],
      undefined,
      [
        'the api_key of Two holds signs that no key has; copy it anew',
        'internal:B is not ready: its config_file has an API key with signs that no key has; correct it there',
      ],
    ],
    ['no subordinate', { external_primary: external }, [], [], /no subordinate/, []],
    [
      'an incomplete one alone',
      { external_primary: external, external_subordinates: [{ url: 'http://x' }] },
      [],
      [],
      /subordinate 1 needs/,
      ['the external subordinate 1 needs its url and its api_key'],
    ],
    [
      'an incomplete one beside',
      { external_primary: external, external_subordinates: [{ url: 'http://x' }, follower] },
      [],
      ['http://two/requests'],
      undefined,
      ['the external subordinate 1 needs its url and its api_key'],
    ],
    [
      'the primary itself',
      { external_primary: external, external_subordinates: [{ url: 'HTTP://ONE:80', ...key }, follower] },
      [],
      ['http://two/requests'],
      undefined,
      ['the external subordinate 1 has the address of the primary or of another subordinate'],
    ],
    [
      'twice',
      { external_primary: external, external_subordinates: [follower, { ...follower, label: 'Two' }] },
      [],
      ['http://two/requests'],
      undefined,
      ['Two has the address of the primary or of another subordinate'],
    ],
    [
      'an instance is the external primary',
      { external_primary: { ...external, url: 'http://localhost:5055' } },
      [internal('B', 'subordinate')],
      ['internal:B'],
      /internal:B is the external primary/,
      [],
    ],
    [
      'labels',
      {
        external_primary: external,
        external_subordinates: [
          { ...follower, label: ' At||tic ' },
          { url: 'http://three', ...key, label: 'At|tic' },
        ],
      },
      [],
      ['At|tic', 'http://three'],
      undefined,
      ['two subordinates are called At|tic; the second goes by its address'],
    ],
    [
      'a primary without a key yet',
      {},
      [internal('A', 'primary', { apiKey: undefined }), internal('B', 'subordinate')],
      ['internal:B'],
      /internal:A is not ready: its config_file/,
      [],
    ],
    [
      'a subordinate without a port',
      { external_primary: external },
      [internal('B', 'subordinate', { port: undefined })],
      ['internal:B'],
      undefined,
      ['internal:B is not ready: it has no port'],
    ],
  ];
  for (const [what, section, internals, labels, error, warnings] of rows) {
    const topology = topologyOf(syncSection.parse(section), internals);
    t.same(topology.labels, labels, `${what}: labels`);
    t.same(topology.warnings, warnings, `${what}: warnings`);
    if (error === undefined) t.same([topology.errors, topology.primary?.apiKey], [[], 'k'], what);
    else t.match([topology.errors[0], topology.primary], [error, undefined], what);
  }
  for (const text of ['', 'one', 'ftp://one', 'http://', 'http://a:b@one', 'http://a@one'])
    t.equal(normalAddress(text), undefined, text);
});

t.test('many deletions at once wait', async t => {
  const MINUTE = 60_000;
  const many = Array.from({ length: 21 }, (_, index) => `movie:${index + 1}:False`);
  const look: Look = { suspects: many, tracked: 40, total: 19, areDeletesOn: true, holds: null, nowMs: 0 };
  t.same(judgeSuspects({ ...look, suspects: many.slice(1) }), { released: many.slice(1), holds: null }, 'twenty');
  t.same(judgeSuspects({ ...look, tracked: 84 }), { released: many, holds: null }, 'a quarter');
  const first = judgeSuspects(look);
  t.match(first, { released: [], holds: { kind: 'many' } }, 'more than a quarter, and more than twenty');
  const soon = judgeSuspects({ ...look, holds: first.holds, nowMs: 14 * MINUTE });
  t.equal(soon.holds?.sweeps.length, 1, 'too soon to count');
  const second = judgeSuspects({ ...look, holds: soon.holds, nowMs: 15 * MINUTE });
  t.same([second.released, second.holds?.sweeps.length], [[], 2]);
  const fewer = [...many.slice(1), 'movie:99:False', 'movie:98:False'];
  const third = judgeSuspects({ ...look, suspects: fewer, holds: second.holds, nowMs: 30 * MINUTE });
  t.same(third, { released: many.slice(1), holds: null }, 'what was missing each time');
  t.match(judgeSuspects({ ...look, holds: second.holds, suspects: [] }), { holds: null }, 'all are there again');

  const ahead = judgeSuspects({ ...look, nowMs: 365 * 24 * 60 * MINUTE });
  let late = ahead;
  for (const minutes of [0, 15, 30]) late = judgeSuspects({ ...look, holds: late.holds, nowMs: minutes * MINUTE });
  t.same(late, { released: many, holds: null }, 'a clock that was ahead puts nothing off');

  const empty = judgeSuspects({ ...look, suspects: ['movie:1:False'], tracked: 1, total: 0 });
  t.match(empty, { released: [], holds: { kind: 'empty' } }, 'the primary shows nothing');
  const later = judgeSuspects({ ...look, total: 0, holds: empty.holds, nowMs: 999 * MINUTE });
  t.match(later, { released: [], holds: { kind: 'empty' } }, 'for however long');
  const off = judgeSuspects({ ...look, total: 0, holds: empty.holds, areDeletesOn: false });
  t.match(off, { released: [], holds: { isSwitchedOff: true } });
  t.same(
    judgeSuspects({ ...look, total: 0, holds: off.holds }),
    { released: many, holds: null },
    'switched off and on',
  );
  t.match(
    judgeSuspects({ ...look, holds: off.holds }),
    { released: [], holds: { kind: 'many', sweeps: { length: 1 } } },
    'some are there again',
  );
});

t.test('known addresses have labels', async t => {
  const held = { id: 1, status: 2, synced_at: '' };
  const failure = { failed_at: '', error: 'x', media_type: 'movie', tmdb_id: 1 };
  const state = await stateFrom({
    requests: {
      'movie:1:False': { primary_id: 1, subordinates: { 'http://TWO:80': held, Old: held, 'internal:A': held } },
    },
    failed: { 'movie:1:False||Old': failure },
    meta: { labels: { Old: 'http://three' } },
  });
  await adoptLabels(state, [
    { label: '__proto__', address: 'http://two' },
    { label: 'New', address: 'http://three' },
  ]);
  t.same(Object.keys(state.requests.get('movie:1:False')?.subordinates ?? {}), ['internal:A', '__proto__', 'New']);
  t.same([...state.failed.keys()], ['movie:1:False||New']);
});

t.test('labels that change places take their entries along', async t => {
  const failure = { failed_at: '', error: 'x', media_type: 'movie', tmdb_id: 1 };
  const renamed = async (labels: Record<string, string>, configured: Record<string, string>) => {
    const names = Object.keys(labels);
    const held = names.map((label, index) => [label, { id: index + 1, status: 2, synced_at: '' }] as const);
    const state = await stateFrom({
      requests: { 'movie:1:False': { primary_id: 1, subordinates: Object.fromEntries(held) } },
      failed: Object.fromEntries(names.map(label => [`movie:1:False||${label}`, { ...failure, error: label }])),
      meta: { labels },
    });
    const peers = Object.entries(configured).map(([label, address]) => ({ label, address }));
    await adoptLabels(state, peers);
    await adoptLabels(state, peers);
    const { subordinates = {} } = state.requests.get('movie:1:False') ?? {};
    const ids = Object.fromEntries(Object.entries(subordinates).map(([label, { id }]) => [label, id]));
    const errors = Object.fromEntries([...state.failed].map(([key, { error }]) => [key.split('||')[1], error]));
    t.same(
      errors,
      Object.fromEntries(Object.entries(ids).map(([label, id]) => [label, names[id - 1]])),
      'failures go along',
    );
    return ids;
  };
  const [one, two, three] = ['http://one', 'http://two', 'http://three'] as const;
  t.same(await renamed({ A: one, B: two }, { B: one, A: two }), { B: 1, A: 2 }, 'swapped');
  t.same(await renamed({ A: one, B: two }, { B: one, C: two }), { B: 1, C: 2 }, 'handed on');
  t.same(await renamed({ A: one }, { B: one, A: two }), { B: 1 }, 'another subordinate gets the former label');
  t.same(await renamed({ A: one, B: two }, { B: one }), { B: 1, [two]: 2 }, 'the label of one that was taken out');
  t.same(await renamed({ A: one }, { A: two }), { A: 1 }, 'a subordinate that has moved');
  const [first, second] = ['internal:1', 'internal:2'] as const;
  t.same(
    await renamed({ [first]: one, [second]: two }, { [first]: two, [second]: one }),
    { [first]: 1, [second]: 2 },
    'instances that exchange their ports',
  );
  t.same(
    await renamed({ [first]: one }, { [first]: two, B: one, C: three }),
    { [first]: 1 },
    'a subordinate at the former port of an instance',
  );
});

t.test('the reason of a failed call is named', async t => {
  const failure = (code: string) => new Error('fetch failed', { cause: Object.assign(new Error('x'), { code }) });
  for (const [code, reason] of [
    ['ECONNREFUSED', /refused/],
    ['ECONNRESET', /closed before/],
    ['UND_ERR_CONNECT_TIMEOUT', /timeout/],
    ['ENOTFOUND', /name not found/],
    ['EHOSTUNREACH', /cannot be reached/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /certificate/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /certificate/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /certificate/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', /TLS/],
    ['E_OTHER', /the exchange failed/],
  ] as const)
    t.match(networkReason(failure(code)), reason, code);
  t.match(networkReason(new DOMException('late', 'TimeoutError')), /timeout/);
  t.match(networkReason('text'), /the exchange failed/);
});

t.test('a failure is tried again after a while', async t => {
  const nowMs = Date.parse('2026-01-02T00:00:00Z');
  t.equal(retryAtMs('2026-01-01T12:00:00Z', 24, nowMs), Date.parse('2026-01-02T12:00:00Z'));
  t.equal(retryAtMs('2026-01-01T12:00:00Z', 0, nowMs), null, 'at every poll');
  t.equal(retryAtMs('2027-01-01T00:00:00Z', 24, nowMs), nowMs + 24 * 3_600_000, 'of the future: from now');
});
