// An entry is found by its name before its address, so that entries of two applications that moved stay apart.
import t from 'tap';
import type { ArrChange, ArrEntry } from '../../../plugins/service-arr/contract.ts';
import { ensureEntry } from '../../../plugins/service-arr/entries.ts';

interface Stored {
  readonly id: number;
  readonly name: string;
  readonly implementation: string;
  readonly fields: { readonly name: string; readonly value: unknown }[];
}

const stored = (id: number, name: string, port: number): Stored => ({
  id,
  name,
  implementation: 'Radarr',
  fields: [{ name: 'baseUrl', value: `http://127.0.0.1:${port}` }],
});

const wanted = (name: string, port: number): ArrEntry => ({
  list: 'applications',
  name,
  implementation: 'Radarr',
  fields: { baseUrl: `http://127.0.0.1:${port}` },
  address: ['baseUrl'],
});

function server(entries: Stored[]) {
  return async (path: string, change?: ArrChange): Promise<unknown> => {
    const [, id] = path.split('/');
    const at = entries.findIndex(entry => String(entry.id) === id);
    if (change !== undefined) entries[at] = change.json as Stored;
    return entries;
  };
}

t.test('each of two applications that moved keeps its entry', async t => {
  const entries = [stored(1, 'Radarr (B)', 7_879), stored(2, 'Radarr (A)', 7_878)];
  const ask = server(entries);
  for (const entry of [wanted('Radarr (A)', 7_879), wanted('Radarr (B)', 7_880)])
    t.equal(await ensureEntry(entry, ask, false), 'updated', entry.name);
  t.match(entries, [stored(1, 'Radarr (B)', 7_880), stored(2, 'Radarr (A)', 7_879)]);
});

t.test('an entry with another name and the same address is the same', async t => {
  const entries = [stored(1, 'Mine', 7_878)];
  t.equal(await ensureEntry(wanted('Radarr (A)', 7_878), server(entries), false), null);
});
