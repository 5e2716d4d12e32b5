// The points for each piece of evidence, the pressure that they add up to, and which advice wins.
import t from 'tap';
import type { DatabaseFacts, StorageFacts } from '../../../plugins/database-health/contract.ts';
import type { Signal } from '../../../plugins/database-health/log-signals.ts';
import { assess } from '../../../plugins/database-health/score.ts';

const MIB = 1_048_576;
const STORAGE: StorageFacts = {
  mountPoint: '/data',
  fsType: 'ext4',
  source: '/dev/sda1',
  network: false,
  readOnly: false,
  totalBytes: 100,
  freeBytes: 50,
  usedPercent: 50,
  totalInodes: 100,
  freeInodes: 90,
  inodeUsedPercent: 10,
};
const DATABASE: DatabaseFacts = { role: 'main', exists: true, sizeBytes: 512 * MIB };

interface Case {
  readonly what: string;
  readonly databases?: readonly Partial<DatabaseFacts>[];
  readonly storage?: Partial<StorageFacts>;
  readonly signals?: readonly Signal[];
  readonly ignoresNetwork?: boolean;
  readonly isBlind?: boolean;
  readonly score: number;
  readonly pressure: string;
  readonly advice?: RegExp;
}

const CASES: readonly Case[] = [
  { what: 'nothing', score: 0, pressure: 'healthy', advice: /Nothing needs/ },
  { what: 'errors of the disk', signals: ['io_error'], score: 60, pressure: 'high', advice: /Look at/ },
  { what: 'locks', signals: ['locked'], score: 45, pressure: 'high', advice: /at the same time/ },
  { what: 'deadlocks', signals: ['deadlock'], score: 45, pressure: 'high', advice: /Look at/ },
  { what: 'busy', signals: ['busy'], score: 35, pressure: 'moderate' },
  { what: 'late answers', signals: ['timeout'], score: 25, pressure: 'moderate' },
  { what: 'locks and late answers', signals: ['locked', 'timeout'], score: 70, pressure: 'critical' },
  { what: 'a network', storage: { network: true }, score: 35, pressure: 'moderate', advice: /disk of this machine/ },
  {
    what: 'a network that is ignored',
    storage: { network: true },
    ignoresNetwork: true,
    score: 0,
    pressure: 'healthy',
  },
  { what: 'read-only', storage: { readOnly: true }, score: 60, pressure: 'high', advice: /can be written/ },
  { what: '89.9 % full', storage: { usedPercent: 89.9 }, score: 0, pressure: 'healthy' },
  { what: '90 % full', storage: { usedPercent: 90 }, score: 10, pressure: 'healthy', advice: /Free some space/ },
  { what: '95 % full', storage: { usedPercent: 95 }, score: 25, pressure: 'moderate' },
  { what: '98 % full', storage: { usedPercent: 98 }, score: 35, pressure: 'moderate' },
  { what: '90 % of inodes', storage: { inodeUsedPercent: 90 }, score: 15, pressure: 'healthy', advice: /inodes/ },
  { what: '95 % of inodes', storage: { inodeUsedPercent: 95 }, score: 30, pressure: 'moderate' },
  { what: '98 % of inodes', storage: { inodeUsedPercent: 98 }, score: 45, pressure: 'high' },
  { what: 'no inodes at all', storage: { inodeUsedPercent: null }, score: 0, pressure: 'healthy' },
  {
    what: 'read-only wins over inodes, space and network',
    storage: { readOnly: true, inodeUsedPercent: 99, usedPercent: 99, network: true },
    score: 100,
    pressure: 'critical',
    advice: /can be written/,
  },
  {
    what: 'inodes win over space',
    storage: { inodeUsedPercent: 90, usedPercent: 90 },
    score: 25,
    pressure: 'moderate',
    advice: /inodes/,
  },
  {
    what: 'space wins over the network',
    storage: { usedPercent: 90, network: true },
    score: 45,
    pressure: 'high',
    advice: /Free/,
  },
  { what: 'a WAL of 64 MiB', databases: [{ walSizeBytes: 64 * MIB }], score: 10, pressure: 'healthy' },
  { what: 'a WAL of 256 MiB', databases: [{ walSizeBytes: 256 * MIB }], score: 25, pressure: 'moderate' },
  {
    what: 'a WAL larger than all',
    databases: [{ sizeBytes: MIB, walSizeBytes: 256 * MIB }],
    score: 35,
    pressure: 'moderate',
  },
  { what: 'a small WAL', databases: [{ sizeBytes: 1, walSizeBytes: 4 * MIB - 1 }], score: 0, pressure: 'healthy' },
  { what: 'a WAL of 4 MiB', databases: [{ sizeBytes: MIB, walSizeBytes: 4 * MIB }], score: 10, pressure: 'healthy' },
  { what: '99 ms', databases: [{ probeMs: 99 }], score: 0, pressure: 'healthy' },
  { what: '100 ms', databases: [{ probeMs: 100 }], score: 10, pressure: 'healthy' },
  { what: '250 ms', databases: [{ probeMs: 250 }], score: 20, pressure: 'moderate' },
  { what: '1 s', databases: [{ probeMs: 1_000 }], score: 30, pressure: 'moderate' },
  { what: 'a failed probe', databases: [{ probeError: 'why' }], score: 20, pressure: 'moderate', advice: /Look at/ },
  { what: 'new deadlocks', databases: [{ deadlocksDelta: 1 }], score: 45, pressure: 'high' },
  { what: 'lock waiters', databases: [{ lockWaiters: 2 }], score: 25, pressure: 'moderate' },
  { what: 'a young transaction', databases: [{ oldestTransactionSeconds: 299 }], score: 0, pressure: 'healthy' },
  { what: 'an old transaction', databases: [{ oldestTransactionSeconds: 300 }], score: 20, pressure: 'moderate' },
  {
    what: 'each database counts',
    databases: [{ probeMs: 1_000 }, { role: 'logs', probeMs: 1_000 }],
    score: 60,
    pressure: 'high',
  },
  {
    what: 'a mount counts once',
    databases: [{}, { role: 'logs' }],
    storage: { network: true },
    score: 35,
    pressure: 'moderate',
  },
  { what: 'no database', databases: [{ exists: false }], score: 0, pressure: 'unavailable', advice: /started once/ },
  { what: 'one of two', databases: [{ exists: false }, { role: 'logs' }], score: 0, pressure: 'healthy' },
  {
    what: 'out of sight',
    databases: [{ exists: null }],
    isBlind: true,
    score: 0,
    pressure: 'observing',
    advice: /enhanced/,
  },
  {
    what: 'absent, with locks in the log',
    databases: [{ exists: false }],
    signals: ['locked'],
    score: 45,
    pressure: 'high',
  },
];

for (const { what, databases = [{}], storage, signals = [], score, pressure, advice, ...rest } of CASES)
  t.test(what, async t => {
    const placed = storage === undefined ? {} : { storage: { ...STORAGE, ...storage } };
    const found = assess({
      databases: databases.map(database => ({ ...DATABASE, ...placed, ...database })),
      signals,
      ignoresNetwork: rest.ignoresNetwork === true,
      isBlind: rest.isBlind === true,
    });
    t.equal(found.score, score);
    t.equal(found.pressure, pressure);
    t.match(found.recommendation, advice ?? /\.$/);
    t.equal(new Set(found.reasons).size, found.reasons.length);
    t.equal(found.reasons.length > 0, score > 0);
  });
