// How much a service's databases suffer, as one number with its reasons and one recommendation. The table in the tests
// has the thresholds.
import type { DatabaseFacts, StorageFacts } from './contract.ts';
import type { Signal } from './log-signals.ts';

type Pressure = 'observing' | 'unavailable' | 'healthy' | 'moderate' | 'high' | 'critical';

export interface Evidence {
  readonly databases: readonly DatabaseFacts[];
  /** The signals that the log has shown within the last hour. */
  readonly signals: readonly Signal[];
  readonly ignoresNetwork: boolean;
  /** Whether the probe cannot determine if the databases exist. */
  readonly isBlind: boolean;
}

export interface Assessment {
  readonly pressure: Pressure;
  /** 0 to 100. */
  readonly score: number;
  readonly reasons: readonly string[];
  readonly recommendation: string;
}

interface Finding {
  readonly points: number;
  readonly reason: string;
  readonly topic?: Topic;
}

type Topic = 'read-only' | 'inodes' | 'space' | 'network' | 'contention';

const MIB = 1_048_576;
const MAX_SCORE = 100;
/** A small write-ahead log beside an even smaller database is usual. */
const WAL_COUNTS_FROM = 4 * MIB;
const LONG_TRANSACTION_S = 300;

const OF_SIGNALS: Readonly<Record<Signal, Finding>> = {
  io_error: { points: 60, reason: 'The log shows errors of the disk or a damaged database' },
  locked: { points: 45, reason: 'The log shows that a database was locked', topic: 'contention' },
  deadlock: { points: 45, reason: 'The log shows deadlocks' },
  busy: { points: 35, reason: 'The log shows that a database was busy', topic: 'contention' },
  timeout: { points: 25, reason: 'The log shows that a database answered too late', topic: 'contention' },
};

/** The advice for each topic; the first whose topic has a finding is given. */
const ADVICE: readonly (readonly [Topic, string])[] = [
  ['read-only', 'Mount the storage of the database so that it can be written, and check its disk for errors.'],
  ['inodes', 'Remove files that are no longer needed: the file system of the database has few inodes left.'],
  ['space', 'Free some space on the file system of the database.'],
  ['network', 'Move the database to a disk of this machine, or ignore network storage for this service.'],
  ['contention', 'Reduce what uses the database at the same time, and look at the log of the service.'],
];
const ADVICE_UNAVAILABLE = 'Check that the service has been started once, and where its database lies.';
const ADVICE_NO_EVIDENCE = 'Nothing points to trouble; the enhanced mode tells more.';
const ADVICE_REVIEW = 'Look at the reasons and at the log of the service.';
const ADVICE_NONE = 'Nothing needs to be done.';

export function assess({ databases, signals, ignoresNetwork, isBlind }: Evidence): Assessment {
  const mounts = new Map(databases.flatMap(({ storage }) => (storage ? [[storage.mountPoint, storage] as const] : [])));
  const findings = [
    ...signals.map(signal => OF_SIGNALS[signal]),
    ...[...mounts.values()].flatMap(storage => ofStorage(storage, ignoresNetwork)),
    ...databases.flatMap(ofDatabase),
  ];
  const score = Math.min(
    findings.reduce((sum, { points }) => sum + points, 0),
    MAX_SCORE,
  );
  const isSeen = databases.length === 0 || databases.some(({ exists }) => exists === true);
  const pressure = pressureOf(score) ?? (isSeen ? 'healthy' : isBlind ? 'observing' : 'unavailable');
  const reasons = [...new Set(findings.map(({ reason }) => reason))];
  return { pressure, score, reasons, recommendation: adviceFor(pressure, findings) };
}

function pressureOf(score: number): Pressure | undefined {
  if (score >= 70) return 'critical';
  if (score >= 45) return 'high';
  return score >= 20 ? 'moderate' : undefined;
}

function adviceFor(pressure: Pressure, findings: readonly Finding[]): string {
  if (pressure === 'unavailable') return ADVICE_UNAVAILABLE;
  if (findings.length === 0) return pressure === 'observing' ? ADVICE_NO_EVIDENCE : ADVICE_NONE;
  const advice = ADVICE.find(([topic]) => findings.some(finding => finding.topic === topic));
  return advice?.[1] ?? ADVICE_REVIEW;
}

function ofStorage(storage: StorageFacts, ignoresNetwork: boolean): Finding[] {
  const { mountPoint, usedPercent, inodeUsedPercent } = storage;
  const findings: Finding[] = [];
  if (storage.network && !ignoresNetwork)
    findings.push({ points: 35, reason: `${mountPoint} is a network file system`, topic: 'network' });
  if (storage.readOnly) findings.push({ points: 60, reason: `${mountPoint} is read-only`, topic: 'read-only' });
  const space = step(usedPercent, [98, 35], [95, 25], [90, 10]);
  if (space > 0) findings.push({ points: space, reason: `${mountPoint} is ${usedPercent} % full`, topic: 'space' });
  const inodes = step(inodeUsedPercent, [98, 45], [95, 30], [90, 15]);
  if (inodes > 0)
    findings.push({
      points: inodes,
      reason: `${mountPoint} has used ${inodeUsedPercent} % of its inodes`,
      topic: 'inodes',
    });
  return findings;
}

function ofDatabase(database: DatabaseFacts): Finding[] {
  const { role, sizeBytes, walSizeBytes = 0, probeMs, probeError, deadlocksDelta = 0, lockWaiters = 0 } = database;
  const findings: Finding[] = [];
  const wal = step(walSizeBytes, [256 * MIB, 25], [64 * MIB, 10]);
  if (wal > 0) findings.push({ points: wal, reason: `The write-ahead log of ${role} is large`, topic: 'contention' });
  if (walSizeBytes >= WAL_COUNTS_FROM && sizeBytes !== undefined && walSizeBytes > sizeBytes)
    findings.push({ points: 10, reason: `The write-ahead log of ${role} is larger than the database` });
  const late = step(probeMs ?? null, [1_000, 30], [250, 20], [100, 10]);
  if (late > 0) findings.push({ points: late, reason: `${role} answered slowly`, topic: 'contention' });
  if (probeError !== undefined) findings.push({ points: 20, reason: `${role} could not be read: ${probeError}` });
  if (deadlocksDelta > 0) findings.push({ points: 45, reason: `${role} had new deadlocks` });
  if (lockWaiters > 0) findings.push({ points: 25, reason: `Clients of ${role} wait for locks` });
  if ((database.oldestTransactionSeconds ?? 0) >= LONG_TRANSACTION_S)
    findings.push({ points: 20, reason: `A transaction of ${role} has been open for long` });
  return findings;
}

/** The points of the first threshold that the value reaches. */
function step(value: number | null, ...steps: readonly (readonly [threshold: number, points: number])[]): number {
  return steps.find(([threshold]) => value !== null && value >= threshold)?.[1] ?? 0;
}
