// The import of an earlier program's files, in batches. It may be repeated: each sample replaces the one of its time.
import type { Database } from '#core';
import type * as Statements from './history-statements.ts';
import { LineFiles } from './line-files.ts';
import { whenUnlocked } from './lock-wait.ts';

const BATCH_LINES = 1_000;
const BATCH_CHARACTERS = 2 * 1_024 * 1_024;
const BATCH_MS = 120_000;

export async function importLines(
  database: Database<typeof Statements>,
  directory: string,
): Promise<Statements.ImportRecord> {
  const files = new LineFiles(directory);
  const list = await files.list();
  let [samples, skipped] = [0, 0];
  for (const { name } of list) {
    let batch: string[] = [];
    let characters = 0;
    const write = async (): Promise<void> => {
      const counts = await whenUnlocked(() => database.call('importLines', batch, { timeoutMs: BATCH_MS }));
      samples += counts.samples;
      skipped += counts.skipped;
      batch = [];
      characters = 0;
    };
    for await (const line of files.lines(name)) {
      if (line === null) {
        skipped += 1;
        continue;
      }
      batch.push(line);
      characters += line.length;
      if (batch.length >= BATCH_LINES || characters >= BATCH_CHARACTERS) await write();
    }
    if (batch.length > 0) await write();
  }
  const record = { completed: skipped === 0, files: list.length, samples, skipped };
  await whenUnlocked(() => database.call('recordImport', record));
  return record;
}
