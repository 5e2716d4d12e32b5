// Events that find the queue full are recorded and not sent, and do not silence later events by a cooldown.
import Database from 'better-sqlite3';
import t from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import { enqueue, migrations, type QueuedEvent } from '../../../plugins/notifications/queue-statements.ts';

const MAX_PENDING = 5_000;

/** One event for one destination with a cooldown of 300 s. */
const eventAt = (createdAt: number, eventType: string): QueuedEvent => ({
  eventId: `${eventType} ${createdAt}`,
  eventType,
  severity: 'critical',
  title: 'It is not well',
  body: '',
  serviceName: 'App',
  metadata: {},
  createdAt,
  conditionKey: '',
  isForced: false,
  isExempt: false,
  targets: [
    {
      deliveryId: `${eventType} ${createdAt}`,
      destinationId: 'one',
      destinationName: 'One',
      cooldownSec: 300,
    },
  ],
});

t.test('an event for which there was no room begins no cooldown', async t => {
  const db = new Database(':memory:') as unknown as SqliteDatabase;
  for (const migration of migrations)
    if (typeof migration === 'string') db.exec(migration);
    else migration(db);
  const tell = (now: number, ...types: string[]) => enqueue(db, { events: types.map(type => eventAt(now, type)), now });
  const statuses = () =>
    db.prepare("SELECT status FROM deliveries WHERE event_type = 'unwell' ORDER BY created_at").pluck().all();

  tell(1_000, ...Array.from({ length: MAX_PENDING }, (_, index) => `other ${index}`));
  tell(1_010, 'unwell');
  t.same(statuses(), ['failed']);
  db.exec("UPDATE deliveries SET status = 'completed' WHERE status = 'queued'");
  tell(1_020, 'unwell');
  t.same(statuses(), ['failed', 'queued'], 'the first of which anybody is told');
  tell(1_030, 'unwell');
  tell(1_319, 'unwell');
  t.same(statuses(), ['failed', 'queued', 'suppressed'], 'which begins one');
  tell(1_320, 'unwell');
  t.same(statuses(), ['failed', 'queued', 'suppressed', 'queued']);
});
