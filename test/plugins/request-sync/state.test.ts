// The state in its file: it is read as it was written, in every layout, and unusable parts are set aside.
import { once } from 'node:events';
import { chown, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import t from 'tap';
import { emptyState, stateFrom } from '../../../plugins/request-sync/state.ts';
import { StateFile } from '../../../plugins/request-sync/state-file.ts';
import { stateContent, stateText } from '../../../plugins/request-sync/state-text.ts';
import { testDir } from '../../support/directory.ts';

/** Opens the file repeatedly until it is told to end; prints how often it tried and how often it failed. */
const LOOKER = `
  const { existsSync } = require('node:fs');
  const { parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads');
  let [looks, missing] = [0, 0];
  do {
    looks += 1;
    if (!existsSync(workerData)) missing += 1;
  } while (receiveMessageOnPort(parentPort) === undefined);
  parentPort.postMessage([looks, missing]);
`;
const warnings: string[] = [];
const log = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) };
const HELD = { id: 5, status: 2, synced_at: '2026-01-01T00:00:00Z' };
const ENTRY = { primary_id: 3, subordinates: { Attic: HELD } };

t.test('what is written is read again', async t => {
  const numbers = fc.array(fc.nat());
  const holding = fc.record({
    id: fc.nat(),
    status: fc.nat(9),
    synced_at: fc.constant('2026-01-01T00:00:00Z'),
    ids: numbers,
    more: fc.jsonValue(),
  });
  const label = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '}', '"requests":{'));
  const entry = fc.record({ primary_id: fc.integer({ min: 1 }), subordinates: fc.dictionary(label, holding) });
  const failure = fc.record({
    failed_at: fc.constant('2026-01-01T00:00:00Z'),
    error: fc.string(),
    media_type: fc.string(),
    tmdb_id: fc.nat(),
  });
  const content = fc.record({
    last_poll_ts: fc.constantFrom(null, '2026-01-01T00:00:00Z'),
    requests: fc.dictionary(label, entry),
    failed: fc.dictionary(label, failure),
    other: fc.jsonValue(),
  });
  await t.resolves(
    fc.assert(
      fc.asyncProperty(content, fc.constantFrom(undefined, 2, 4), async (given, indent) => {
        const foreign = await stateFrom(await stateContent(JSON.stringify(given, null, indent)));
        const text = [...stateText(foreign)].join('');
        const again = await stateFrom(await stateContent(text));
        const { requests } = JSON.parse(text);
        const isKept = Object.keys(given.requests).length === Object.keys(requests).length;
        return isKept && again.requests.size === foreign.requests.size && [...stateText(again)].join('') === text;
      }),
      { numRuns: 300 },
    ),
  );
});

t.test('an unusable entry costs only that entry', async t => {
  const state = await stateFrom({
    last_poll_ts: '2026-01-01T01:00:00.5+01:00',
    requests: {
      'movie:1:False': { ...ENTRY, primary_ids: ['x'], subordinates: { Attic: HELD, Cellar: { id: 'x' } } },
      'movie:2:False': { primary_id: 0 },
      'movie:3:False': [],
    },
    failed: { a: {}, b: { error: 'x', failed_at: 'never' } },
    meta: [],
  });
  t.equal(state.last_poll_ts, '2026-01-01T00:00:00Z', 'times of an earlier program');
  t.same(JSON.parse(JSON.stringify([...state.requests])), [['movie:1:False', ENTRY]]);
  t.match([...state.failed], [['b', { failed_at: '' }]]);
  t.same(state.meta, emptyState().meta);
  for (const content of [null, [], 'x', { requests: [] }]) await t.rejects(stateFrom(content));
});

t.test('the state in files', async t => {
  const directory = testDir(t);
  const open = async (name: string) => {
    const place = path.join(directory, name);
    await mkdir(place);
    return { place, file: path.join(place, 'sync_state.json') };
  };
  const texts = async (place: string) => (await readdir(place)).sort();

  await t.test('the first save makes a file, the next keeps the previous version', async t => {
    const { place, file } = await open('fresh');
    const states = new StateFile(file, log);
    const state = await states.load();
    t.notOk(states.isSaved);
    await states.save();
    state.requests.set('movie:1:False', { primary_id: 1, subordinates: {} });
    await states.save();
    t.ok(states.isSaved);
    t.same(await texts(place), ['sync_state.json', 'sync_state.json.bak']);
    t.same((await new StateFile(file, log).load()).requests, state.requests);
    t.same(JSON.parse(await readFile(`${file}.bak`, 'utf8')).requests, {});
  });

  await t.test('the file exists at any moment', async t => {
    const { file } = await open('watched');
    const states = new StateFile(file, log);
    const state = await states.load();
    await states.save();
    const looker = new Worker(LOOKER, { eval: true, workerData: file });
    const looked = once(looker, 'message');
    await once(looker, 'online');
    for (let id = 1; id <= 100; id += 1) {
      state.requests.set(`movie:${id}:False`, { primary_id: id, subordinates: {} });
      await states.save();
    }
    looker.postMessage('enough');
    const [[looks, missing]] = await looked;
    t.ok(looks > 0);
    t.equal(missing, 0);
  });

  await t.test('a cycle that changed nothing leaves the file as it is, until the end', async t => {
    const { file } = await open('quiet');
    const states = new StateFile(file, log);
    const state = await states.load();
    const saved = async () => JSON.parse(await readFile(file, 'utf8'));
    state.last_poll_ts = '2026-01-01T00:00:00Z';
    await states.saveCycle();
    t.equal((await saved()).last_poll_ts, state.last_poll_ts, 'the first is saved');
    state.last_poll_ts = '2026-01-01T00:01:00Z';
    await states.saveCycle();
    t.equal((await saved()).last_poll_ts, '2026-01-01T00:00:00Z');
    state.requests.set('movie:1:False', { primary_id: 1, subordinates: {} });
    await states.saveCycle();
    t.match(await saved(), { last_poll_ts: state.last_poll_ts, requests: { 'movie:1:False': { primary_id: 1 } } });
    state.meta.last_total = 5;
    await states.saveCycle();
    t.equal((await saved()).meta.last_total, 5);
    state.last_poll_ts = '2026-01-01T00:02:00Z';
    await states.saveCycle();
    await states.saveRest();
    t.equal((await saved()).last_poll_ts, state.last_poll_ts);
  });

  await t.test('changes during the write of a large state are saved at the end', async t => {
    const { file } = await open('large');
    const states = new StateFile(file, log);
    const state = await states.load();
    for (let id = 1; id <= 50_000; id += 1)
      state.requests.set(`movie:${id}:False`, { primary_id: id, subordinates: {} });
    await states.save();
    const saving = states.save();
    await turn();
    state.requests.set('movie:1:False', structuredClone(ENTRY));
    await states.changed();
    await saving;
    await states.saveRest();
    t.match((await new StateFile(file, log).load()).requests.get('movie:1:False'), ENTRY);
  });

  await t.test('damaged files are kept, and the previous version is used', async t => {
    for (const [name, text] of [
      ['truncated', '{"requests":{"movie:1'],
      ['garbled', '\0\x01'],
      ['empty', ''],
      ['no object', '[]'],
    ] as const) {
      const { place, file } = await open(name);
      await writeFile(file, text, { mode: 0o600 });
      await writeFile(`${file}.bak`, JSON.stringify({ requests: { 'movie:1:False': ENTRY } }), { mode: 0o600 });
      const state = await new StateFile(file, log).load();
      t.equal(state.requests.size, 1, name);
      t.match(await texts(place), [/^sync_state\.json\.bak$/, /^sync_state\.json\.corrupt-/], name);
      t.match(warnings.at(-1), /is kept as/);
    }
  });

  await t.test('a file that others may have written is not used, and stays', async t => {
    const foreign = await open('foreign');
    await writeFile(foreign.file, '{}');
    await chown(foreign.file, 65_534, 65_534);
    await t.rejects(new StateFile(foreign.file, log).load(), /belongs to user 65534.*remove it/);
    const linked = await open('linked');
    await symlink(foreign.file, linked.file);
    await t.rejects(new StateFile(linked.file, log).load());
    t.same(await texts(linked.place), ['sync_state.json']);
  });
});
