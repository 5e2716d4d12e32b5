// Histories of an earlier program are used: its lines, and its database as it is.
import { deflateSync } from 'node:zlib';
import Database from 'better-sqlite3';
import t from 'tap';
import type { SqliteDatabase } from '../../../core/contract/database.ts';
import { textOfPiece } from '../../../plugins/metrics-history/codec/gzip-pieces.ts';
import * as statements from '../../../plugins/metrics-history/history-statements.ts';
import { parseSample } from '../../../plugins/metrics-history/store/samples.ts';
import {
  audit,
  type Body,
  chart,
  deepSample,
  EARLIER_TABLES,
  open,
  START,
  sample,
  write,
} from '../../support/history-database.ts';

t.test('lines of an earlier program are imported once', async t => {
  const db = open();
  const good = [
    sample({ at: 0 }),
    { ...sample({ at: 0 }), timestamp: `${START + 5.5}` },
    { timestamp: '2026-11-18T12:00:00Z' },
  ];
  const bad = ['{"timestamp":', '[]', '7', '{"timestamp":"soon"}', '{"timestamp":-1}', '{}', 'null', deepSample(0)];
  const lines = [...good.map(line => JSON.stringify(line)), ...bad];
  t.same(statements.importLines(db, lines), { samples: 3, skipped: 8 });
  t.same(statements.importLines(db, lines), { samples: 3, skipped: 8 }, 'again, and nothing is there twice');
  t.equal(statements.storage(db).samples, 3);
  const record = { completed: false, files: 1, samples: 3, skipped: 8 };
  statements.recordImport(db, record);
  t.same(statements.importRecord(db), record);
  audit(db);
});

t.test('times of lines are numbers or dates of ISO 8601', t => {
  const times = {
    '1.7942e9': 1_794_200_000,
    ' 1794200001.5 ': 1_794_200_001.5,
    '2026-11-09': 1_794_182_400,
    '2026-11-09T04:53:22Z': 1_794_200_002,
    '2026-11-09 04:53:22.5+00:00': 1_794_200_002.5,
    '2026-11-09T05:53:22+0100': 1_794_200_002,
  };
  for (const [text, seconds] of Object.entries(times))
    t.equal(parseSample(JSON.stringify({ timestamp: text })).timestamp, seconds, text);
  const none = [
    'run 7',
    'Nov 9 2026',
    '-5',
    '7 pm',
    '1.2.3',
    '2026-13-45',
    '2026-11-09T04:53:22 UTC',
    '11/09/2026',
    '',
  ];
  for (const text of none) t.throws(() => parseSample(JSON.stringify({ timestamp: text })), /it has no time/, text);
  const lines = none.map(text => JSON.stringify({ timestamp: text }));
  t.same(statements.importLines(open(), lines), { samples: 0, skipped: none.length });
  t.end();
});

t.test('a file of an earlier program is used as it is', async t => {
  const db = new Database(':memory:') as unknown as SqliteDatabase;
  db.exec(`${EARLIER_TABLES} INSERT INTO metrics_metadata VALUES ('jsonl_migration_v1', 'complete')`);
  const insert = db.prepare('INSERT INTO metrics_snapshots VALUES (?, ?, ?, ?, 0)');
  for (let index = 0; index < 450; index += 1) {
    const text = JSON.stringify(sample({ at: index * 5, cpu: index % 100 }));
    const payload = index === 7 ? Buffer.from('damaged') : deflateSync(index === 8 ? deepSample(index * 5) : text);
    insert.run(START + index * 5, payload, text.length, payload.length);
  }
  for (const migration of statements.migrations) if (typeof migration === 'string') db.exec(migration);
  audit(db);
  t.equal(statements.importRecord(db).completed, true);
  t.equal(chart(db).stats, null, 'its numbers are not known yet');
  let pieces = 0;
  while (statements.readUnread(db)) pieces += 1;
  t.ok(pieces >= 2, 'they are read a piece at a time');
  t.same(chart(db).stats.cpu, { min: 0, max: 99 });
  write(db, [{ at: 450 * 5 }]);
  const items = JSON.parse(`[${[...statements.pieces(db, { from: START })].map(textOfPiece).join()}]`) as Body[];
  t.equal(items.length, 449, 'old and new ones, without the damaged one and the one that nests too deep');
  audit(db);
});
