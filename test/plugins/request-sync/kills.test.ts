// A real host is killed at random calls of its cycles while people use three request managers, one of which is
// restarted or loses its data. No law may be broken, and in the end all must be right. At last its state file is lost.
import { readFile, rm, truncate } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { testDir } from '../../support/directory.ts';
import { deeds, perform, RARE_TITLE, titleKey } from '../../support/request-deeds.ts';
import { type MediaKey, type ReplicationOptions, RequestJournal } from '../../support/request-journal.ts';
import { fingerprintOf, replay } from '../../support/request-laws.ts';
import { STATUS } from '../../support/request-manager.ts';
import { startRequestManager } from '../../support/request-manager-server.ts';
import { unsettled } from '../../support/request-quiet.ts';
import { rounds } from '../../support/rounds.ts';
import { type RunningStackwarden, startStackwarden, writeConfig } from '../../support/stackwarden.ts';
import { until } from '../../support/until.ts';

/** The suite uses the same seed each time; set another one for other histories. */
const { STACKWARDEN_TEST_SEED: seed = '1' } = process.env;
const SEED = Number(seed);
const STATE_FILE = 'seerr_sync_state.json';
const MOST_CALLS = 25;
const OPTIONS: ReplicationOptions = {
  sync_pending: true,
  sync_approved: true,
  sync_declined: false,
  sync_deletes: true,
  sync_4k_separately: true,
  user_mapping: 'admin',
  pending_without_approval: 'create',
};

interface SavedState {
  readonly requests: Record<string, { readonly subordinates: Record<string, { id: number; ids?: number[] }> }>;
}

t.test('kills of the host and restarts of managers break no law', async t => {
  const journal = new RequestJournal();
  journal.add({ what: 'options', options: OPTIONS });
  const servers = await Promise.all([
    startRequestManager(t, { name: 'primary', product: 'merged', mediaManagersMs: 50, journal }),
    startRequestManager(t, { name: 'attic', product: 'forked', pathPrefix: '/requests', journal }),
    startRequestManager(t, { name: 'cellar', product: 'settled', journal }),
  ] as const);
  const [primary, ...subordinates] = servers;
  const managers = servers.map(({ manager }) => manager);
  const configDir = testDir(t, {});
  const port = await writeConfig(configDir, {
    seerr_sync: {
      enabled: true,
      poll_interval_seconds: 10,
      external_primary: { enabled: true, url: primary.url, api_key: primary.manager.apiKey },
      external_subordinates: subordinates.map(({ url, manager }) => {
        return { url, api_key: manager.apiKey, label: manager.name };
      }),
      options: { ...OPTIONS, retry_failed_after_hours: 0 },
    },
  });
  const start = (): Promise<RunningStackwarden> => startStackwarden(configDir, port, { plugins: ['request-sync'] });
  const savedRequests = async (): Promise<Set<string>> => {
    const text = await readFile(path.join(configDir, STATE_FILE), 'utf8').catch(() => '{"requests":{}}');
    const { requests } = JSON.parse(text) as SavedState;
    return new Set(
      Object.entries(requests).flatMap(([fingerprint, { subordinates: held }]) =>
        Object.entries(held).flatMap(([label, { id, ids }]) =>
          (ids ?? [id]).map(own => `${label} ${own} ${fingerprint}`),
        ),
      ),
    );
  };
  const faults = (): string[] => {
    const replayed = replay(
      journal,
      primary.manager,
      subordinates.map(({ manager }) => manager),
    );
    const unfinished = subordinates.flatMap(({ manager: subordinate }) =>
      unsettled({ primary: primary.manager, subordinate, options: OPTIONS, replayed }),
    );
    return [...replayed.breaches, ...unfinished];
  };

  const count = rounds(2);
  const histories = fc.sample(deeds(servers.length), { seed: SEED, numRuns: count });
  const killAt = fc.sample(fc.integer({ min: 1, max: MOST_CALLS }), { seed: SEED, numRuns: count });
  primary.manager.ask({ ...titleKey(0, false) });
  for (const [round, history] of histories.entries()) {
    let host: RunningStackwarden | undefined;
    let calls = 0;
    let isKilled = false;
    for (const manager of managers) {
      manager.faultOf = () => {
        calls += 1;
        if (calls === killAt[round]) isKilled = host?.child.kill('SIGKILL') ?? false;
        return undefined;
      };
    }
    for (const deed of history) {
      if ('title' in deed || 'which' in deed) perform(managers[deed.at] ?? primary.manager, deed);
      else if (deed.kind === 'lose' && deed.at > 0) managers[deed.at]?.loseData();
      else if (deed.kind === 'outage' && deed.at > 0) await servers[deed.at]?.[deed.isDown ? 'close' : 'open']();
    }
    host = await start();
    await until(() => isKilled || calls > MOST_CALLS || faults().length === 0, { what: 'the kill' });
    host.child.kill('SIGKILL');
    await host.exited;
    journal.add({ what: 'killed', saved: await savedRequests() });
    await Promise.all(servers.map(server => server.open()));
  }

  for (const manager of managers) manager.faultOf = () => undefined;
  const host = await start();
  await until(() => faults().length === 0, { what: 'quiet' }).catch(() => undefined);
  t.same(faults(), []);
  for (const { inFlight, manager } of servers) t.equal(inFlight.most, 1, `one call at a time to ${manager.name}`);
  host.child.kill('SIGTERM');
  t.equal((await host.exited).code, 0);

  await t.test('a lost state is rebuilt from the existing requests', async t => {
    const lostAt = journal.entries.length;
    const titlesOf = (requests: readonly MediaKey[]) => requests.map(request => fingerprintOf(request, OPTIONS));
    const before = new Map(
      subordinates.map(({ manager }) => [
        manager.name,
        titlesOf(
          manager.requests.filter(({ status, mediaType }) => status !== STATUS.declined && mediaType === 'movie'),
        ),
      ]),
    );
    await truncate(path.join(configDir, STATE_FILE), 10);
    await rm(path.join(configDir, `${STATE_FILE}.bak`), { force: true });
    const asked = primary.manager.ask({ mediaType: 'movie', tmdbId: RARE_TITLE * 2 });
    const again = await start();
    await until(() => subordinates.every(({ manager }) => manager.requestsOf(asked).length === 1));
    const from = journal.entries.length;
    await until(() => journal.calls('primary', from).filter(({ call }) => call.path === '/request').length > 1);
    const changes = journal
      .calls(undefined, lostAt)
      .flatMap(({ manager, change }) => (change ? [{ manager, change }] : []));
    t.same(
      changes.filter(({ change: { kind } }) => kind === 'removed' || kind === 'declined'),
      [],
      'nothing is taken away',
    );
    for (const { manager, change } of changes.filter(({ change: { kind } }) => kind === 'created'))
      t.notOk(before.get(manager)?.includes(fingerprintOf(change, OPTIONS)), `nothing is sent twice to ${manager}`);
    again.child.kill('SIGTERM');
    t.equal((await again.exited).code, 0);
  });
});
