// The statements of the queue, which run in the thread of its database. Times are Unix seconds.
import type { SqliteDatabase } from '#core';
import { prepared } from '#kit/prepared-statement';
import { pauseAfter, type RetryPolicy } from './retry.ts';

export { migrations } from './queue-schema.ts';

const PENDING = "status IN ('queued', 'retrying')";
/** An earlier program wrote `sent` for `completed`. */
const TERMINAL = "status IN ('completed', 'sent', 'failed', 'suppressed')";
const COOLDOWN = 'cooldown:';
const CONDITION = 'condition:';
const INTERRUPTED = 'Delivery interrupted by restart';
const MAX_PENDING = 5_000;
const MAX_TERMINAL = 20_000;
/** The longest metadata of a record, in characters; no event of this program has as much. */
const MAX_METADATA = 100_000;
const COOLDOWN_DAYS = 7;
const DAY_S = 86_400;
/** A row written more than this later than now was written before the clock was set back: its due time is ignored. */
const CLOCK_SLACK_S = 5;
/** How long a delivery to a disabled destination is put off each time. */
const DISABLED_PAUSE_S = 30;

export interface QueuedEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly severity: string;
  readonly title: string;
  readonly body: string;
  readonly serviceName: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  /** Distinguishes conditions of one type, such as two paths. */
  readonly conditionKey: string;
  /** Whether a user sent the message: it is sent even while notifications are off, and without a cooldown. */
  readonly isForced: boolean;
  /** Whether the message is sent even within the cooldown. */
  readonly isExempt: boolean;
  readonly targets: readonly QueuedTarget[];
}

export interface QueuedTarget {
  readonly deliveryId: string;
  readonly destinationId: string;
  readonly destinationName: string;
  readonly cooldownSec: number;
}

/** A row as the history shows it. */
export interface DeliveryRecord {
  readonly id: string;
  readonly event_id: string;
  readonly destination_id: string;
  readonly destination_name: string;
  readonly event_type: string;
  readonly severity: string;
  readonly title: string;
  readonly body: string;
  readonly service_name: string | null;
  readonly status: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly next_attempt_at: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly sent_at: number | null;
  readonly metadata_json: string;
}

export interface ClaimedDelivery extends DeliveryRecord {
  /** The parts and targets that earlier attempts have reached, as text of `ReachedTargets`; null for none. */
  readonly reached: string | null;
}

/** The columns of a record. Texts are cut, because an earlier program may have written longer ones. */
const RECORD = `id, event_id, destination_id, substr(destination_name, 1, 120) AS destination_name, event_type,
  severity, substr(title, 1, 300) AS title, substr(body, 1, 10000) AS body, service_name,
  CASE status WHEN 'sent' THEN 'completed' ELSE status END AS status, attempts, substr(error, 1, 1000) AS error,
  next_attempt_at, created_at, updated_at, sent_at,
  CASE WHEN length(metadata_json) <= ${MAX_METADATA} THEN metadata_json ELSE '{}' END AS metadata_json`;

/** Writes a row for each target of each event; rows that exist already stay as they are. */
export function enqueue(db: SqliteDatabase, { events, now }: { events: readonly QueuedEvent[]; now: number }): void {
  let pending = prepared(db, `SELECT count(*) FROM deliveries WHERE ${PENDING}`).pluck().get() as number;
  db.transaction(() => {
    for (const event of events)
      for (const target of event.targets) if (addDelivery(db, event, target, now, pending)) pending += 1;
  })();
}

/** Writes the row of one target. Returns whether it waits to be sent. */
function addDelivery(
  db: SqliteDatabase,
  event: QueuedEvent,
  target: QueuedTarget,
  now: number,
  pending: number,
): boolean {
  const isKnown = prepared(db, 'SELECT 1 FROM deliveries WHERE id = ?').get(target.deliveryId) !== undefined;
  if (isKnown) return false;
  if (!event.isForced && isCoolingDown(db, event, target)) return false;
  const isFull = !event.isForced && pending >= MAX_PENDING;
  // A message that is not sent does not begin a cooldown.
  if (!event.isForced && !isFull)
    writeState(db, cooldownKey(event, target), { active: 0, at: event.createdAt, value: null });
  insert(db, event, target, isFull ? 'failed' : 'queued', { now, error: isFull ? 'Queue is full' : null });
  return !isFull;
}

function cooldownKey({ eventType, serviceName, conditionKey }: QueuedEvent, { destinationId }: QueuedTarget): string {
  return COOLDOWN + JSON.stringify([destinationId, eventType, serviceName, conditionKey]);
}

/** Whether the cooldown lasts. If so, writes a record of the suppressed event, or counts it in an earlier record. */
function isCoolingDown(db: SqliteDatabase, event: QueuedEvent, target: QueuedTarget): boolean {
  const { createdAt } = event;
  const key = cooldownKey(event, target);
  const state = prepared(db, 'SELECT last_sent_at, last_value FROM delivery_state WHERE state_key = ?').get(key) as
    | { last_sent_at: number; last_value: string | null }
    | undefined;
  const elapsed = createdAt - (state?.last_sent_at ?? Number.NEGATIVE_INFINITY);
  if (event.isExempt || target.cooldownSec === 0 || elapsed >= target.cooldownSec || elapsed < 0) return false;
  const counted =
    state?.last_value == null
      ? 0
      : prepared(
          db,
          `UPDATE deliveries SET updated_at = ?, metadata_json = json_set(metadata_json, '$.suppressed_count',
               coalesce(json_extract(metadata_json, '$.suppressed_count'), 1) + 1)
             WHERE id = ? AND status = 'suppressed' AND json_valid(metadata_json)`,
        ).run(createdAt, state.last_value).changes;
  if (counted === 0) {
    insert(db, event, target, 'suppressed', { now: createdAt, error: null });
    writeState(db, key, { active: 0, at: state?.last_sent_at ?? createdAt, value: target.deliveryId });
  }
  return true;
}

function insert(
  db: SqliteDatabase,
  event: QueuedEvent,
  target: QueuedTarget,
  status: string,
  { now, error, bootId = null }: { now: number; error: string | null; bootId?: string | null },
): void {
  prepared(
    db,
    `INSERT INTO deliveries (id, event_id, destination_id, destination_name, event_type, severity, title, body,
       service_name, status, attempts, bypass_enabled, bypass_destination_enabled, next_attempt_at, error,
       metadata_json, created_at, updated_at, claimed_by, claimed_at, single_attempt)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    target.deliveryId,
    event.eventId,
    target.destinationId,
    target.destinationName,
    event.eventType,
    event.severity,
    event.title,
    event.body,
    event.serviceName,
    status,
    Number(event.isForced),
    Number(bootId !== null),
    event.createdAt,
    error,
    JSON.stringify(event.metadata),
    event.createdAt,
    now,
    bootId,
    bootId === null ? null : now,
    Number(bootId !== null),
  );
}

/** Writes a test that is claimed at once and tried once. */
export function addTest(
  db: SqliteDatabase,
  { event, target, bootId, now }: { event: QueuedEvent; target: QueuedTarget; bootId: string; now: number },
): ClaimedDelivery | undefined {
  insert(db, event, target, 'queued', { now, error: null, bootId });
  const added = record(db, target.deliveryId);
  return added && { ...added, reached: null };
}

export interface WorkRequest {
  readonly bootId: string;
  readonly now: number;
  /** Whether messages about events are sent too, and not only those of users. */
  readonly isOpen: boolean;
  /**
   * Ids of all configured destinations, and of the disabled ones; null when they were given lately. `known` is null
   * while the configuration may have more of them than can be read.
   */
  readonly all: { readonly known: readonly string[] | null; readonly disabled: readonly string[] } | null;
  readonly finished: readonly FinishedAttempt[];
  /** Destinations that can take one message each now; at most `slots` of them get one. */
  readonly free: readonly string[];
  readonly slots: number;
}

export interface Work {
  readonly claimed: readonly ClaimedDelivery[];
  /** When the next delivery is due; null when none waits for its time. */
  readonly nextAt: number | null;
}

/** Gives up deliveries to destinations that are gone, and puts off those to disabled destinations. */
function putAside(db: SqliteDatabase, { known, disabled }: NonNullable<WorkRequest['all']>, now: number): void {
  if (known !== null)
    prepared(
      db,
      `UPDATE deliveries SET status = 'failed', error = 'Destination no longer exists.', updated_at = ?
       WHERE ${PENDING} AND claimed_by IS NULL AND destination_id NOT IN (SELECT value FROM json_each(?))`,
    ).run(now, JSON.stringify(known));
  prepared(
    db,
    `UPDATE deliveries SET next_attempt_at = ?
     WHERE ${PENDING} AND claimed_by IS NULL AND next_attempt_at <= ?
       AND destination_id IN (SELECT value FROM json_each(?))`,
  ).run(now + DISABLED_PAUSE_S, now, JSON.stringify(disabled));
}

/** Writes results, and claims the oldest due delivery of each free destination. */
export function claim(db: SqliteDatabase, request: WorkRequest): Work {
  const { bootId, now, isOpen, all, finished, free, slots } = request;
  return db.transaction(() => {
    finish(db, finished);
    if (all !== null) putAside(db, all, now);
    const oldest = prepared(
      db,
      `SELECT ${RECORD}, reached FROM deliveries
       WHERE ${PENDING} AND destination_id = ? AND claimed_by IS NULL
         AND (next_attempt_at <= ? OR updated_at > ?) AND (bypass_enabled = 1 OR ?)
       ORDER BY created_at, rowid LIMIT 1`,
    );
    const take = prepared(db, 'UPDATE deliveries SET claimed_by = ?, claimed_at = ? WHERE id = ?');
    const claimed: ClaimedDelivery[] = [];
    for (const destination of free) {
      if (claimed.length >= slots) break;
      const row = oldest.get(destination, now, now + CLOCK_SLACK_S, Number(isOpen)) as ClaimedDelivery | undefined;
      if (row === undefined) continue;
      take.run(bootId, now, row.id);
      claimed.push(row);
    }
    const nextAt = prepared(
      db,
      `SELECT min(next_attempt_at) FROM deliveries
         WHERE ${PENDING} AND claimed_by IS NULL AND next_attempt_at > ? AND (bypass_enabled = 1 OR ?)`,
    )
      .pluck()
      .get(now, Number(isOpen)) as number | null;
    return { claimed, nextAt };
  })();
}

export interface FinishedAttempt {
  readonly id: string;
  readonly status: 'completed' | 'retrying' | 'failed';
  readonly attempts: number;
  readonly error: string | null;
  readonly nextAttemptAt: number;
  /** The parts and targets that a repetition skips, as text of `ReachedTargets`. */
  readonly reached: string | null;
  readonly now: number;
}

/** Writes what a running attempt has reached so far. */
export function note(db: SqliteDatabase, { id, reached }: { id: string; reached: string }): void {
  prepared(db, 'UPDATE deliveries SET reached = ? WHERE id = ?').run(reached, id);
}

/** Writes the results of attempts and gives their claims back. */
export function finish(db: SqliteDatabase, finished: readonly FinishedAttempt[]): void {
  const update = prepared(
    db,
    `UPDATE deliveries SET status = ?, attempts = ?, error = ?, next_attempt_at = ?, reached = ?, updated_at = ?,
       sent_at = ?, claimed_by = NULL, claimed_at = NULL
     WHERE id = ?`,
  );
  db.transaction(() => {
    for (const { id, status, attempts, error, nextAttemptAt, reached, now } of finished)
      update.run(status, attempts, error, nextAttemptAt, reached, now, status === 'completed' ? now : null, id);
  })();
}

/**
 * Called when the database is opened. Counts claimed attempts of earlier hosts as failed. Gives back claims of this
 * host that are not in `inFlight`, because their answer was lost.
 *
 * Throws an Error when the file contains a trigger or a view: that is not of this program, and would run with its
 * statements.
 */
export function recover(
  db: SqliteDatabase,
  { bootId, now, inFlight, ...policy }: RetryPolicy & { bootId: string; now: number; inFlight: readonly string[] },
): void {
  const foreign = prepared(db, "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')").get() as
    | { type: string; name: string }
    | undefined;
  if (foreign !== undefined) throw new Error(`it holds the ${foreign.type} '${foreign.name}'`);
  db.transaction(() => {
    const rows = prepared(
      db,
      'SELECT id, attempts, single_attempt, reached FROM deliveries WHERE claimed_by IS NOT NULL AND claimed_by <> ?',
    ).all(bootId) as { id: string; attempts: number; single_attempt: number; reached: string | null }[];
    const interrupted = rows.map(({ id, attempts: earlier, single_attempt: isSingle, reached }): FinishedAttempt => {
      const attempts = earlier + 1;
      const pause = isSingle === 1 ? null : pauseAfter(attempts, policy);
      const status = pause === null ? 'failed' : 'retrying';
      return { id, status, attempts, error: INTERRUPTED, nextAttemptAt: now + (pause ?? 0), reached, now };
    });
    finish(db, interrupted);
    giveBack(db, { bootId, now, except: inFlight });
    // Always writes something, so that this fails for a database that can be read but not written.
    writeState(db, 'host', { active: 1, at: now, value: null });
  })();
}

/** Gives back all claims without counting an attempt. */
export function release(db: SqliteDatabase, { bootId, now }: { bootId: string; now: number }): void {
  giveBack(db, { bootId, now, except: [] });
}

/** Gives back claims. A test, which is tried only once, fails with that. */
function giveBack(
  db: SqliteDatabase,
  { bootId, now, except }: { bootId: string; now: number; except: readonly string[] },
): void {
  prepared(
    db,
    `UPDATE deliveries SET claimed_by = NULL, claimed_at = NULL, updated_at = ?,
       status = CASE single_attempt WHEN 1 THEN 'failed' ELSE status END,
       error = CASE single_attempt WHEN 1 THEN '${INTERRUPTED}' ELSE error END
     WHERE claimed_by = ? AND id NOT IN (SELECT value FROM json_each(?))`,
  ).run(now, bootId, JSON.stringify(except));
}

/** Removes records and cooldowns that are too old, and the oldest records beyond the greatest number. */
export function prune(db: SqliteDatabase, { now, days }: { now: number; days: number }): void {
  prepared(db, `DELETE FROM deliveries WHERE ${TERMINAL} AND created_at < ?`).run(now - days * DAY_S);
  prepared(
    db,
    `DELETE FROM deliveries WHERE rowid IN
       (SELECT rowid FROM deliveries WHERE ${TERMINAL} ORDER BY created_at DESC LIMIT -1 OFFSET ${MAX_TERMINAL})`,
  ).run();
  prepared(db, `DELETE FROM delivery_state WHERE state_key LIKE '${COOLDOWN}%' AND updated_at < ?`).run(
    now - COOLDOWN_DAYS * DAY_S,
  );
}

export interface HistoryQuery {
  readonly limit: number;
  readonly status?: string | undefined;
  readonly eventType?: string | undefined;
}

/** The newest records. */
export function history(db: SqliteDatabase, { limit, status, eventType }: HistoryQuery): DeliveryRecord[] {
  const isCompleted = status === 'completed' || status === 'sent';
  const statuses = status === undefined ? null : JSON.stringify(isCompleted ? ['completed', 'sent'] : [status]);
  return prepared(
    db,
    `SELECT ${RECORD} FROM deliveries
       WHERE (@statuses IS NULL OR status IN (SELECT value FROM json_each(@statuses)))
         AND (@eventType IS NULL OR event_type = @eventType)
       ORDER BY created_at DESC, rowid DESC LIMIT @limit`,
  ).all({ statuses, eventType: eventType ?? null, limit }) as DeliveryRecord[];
}

export function record(db: SqliteDatabase, id: string): DeliveryRecord | undefined {
  return prepared(db, `SELECT ${RECORD} FROM deliveries WHERE id = ?`).get(id) as DeliveryRecord | undefined;
}

/** Removes the records of deliveries that are over. Returns how many there were. */
export function clear(db: SqliteDatabase): number {
  return prepared(db, `DELETE FROM deliveries WHERE ${TERMINAL}`).run().changes;
}

/** A condition of which an alert was sent; `value` is JSON text of the monitor. */
export interface ToldCondition {
  readonly key: string;
  readonly value: string;
}

export function conditions(db: SqliteDatabase): ToldCondition[] {
  return prepared(
    db,
    `SELECT substr(state_key, ${CONDITION.length + 1}) AS key, last_value AS value FROM delivery_state
       WHERE state_key LIKE '${CONDITION}%' AND active = 1`,
  ).all() as ToldCondition[];
}

/** Replaces all conditions of which an alert was sent. */
export function keepConditions(
  db: SqliteDatabase,
  { told, now }: { told: readonly ToldCondition[]; now: number },
): void {
  db.transaction(() => {
    prepared(db, `DELETE FROM delivery_state WHERE state_key LIKE '${CONDITION}%'`).run();
    for (const { key, value } of told) writeState(db, CONDITION + key, { active: 1, at: now, value });
  })();
}

function writeState(
  db: SqliteDatabase,
  key: string,
  { active, at, value }: { active: number; at: number; value: string | null },
): void {
  prepared(
    db,
    `INSERT INTO delivery_state (state_key, active, last_sent_at, last_value, updated_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (state_key) DO UPDATE SET active = excluded.active, last_sent_at = excluded.last_sent_at,
       last_value = excluded.last_value, updated_at = excluded.updated_at`,
  ).run(key, active, at, value, at);
}
