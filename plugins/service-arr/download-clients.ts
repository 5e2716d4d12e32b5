// Converts download services to entries for download clients of a media manager.
import type { ArrClient, ArrEntry } from './contract.ts';

const HOST = '127.0.0.1';

/** Sets the category under every field name, because each kind of manager has its own name for it. */
export function entryOf({ name, implementation, fields, category }: ArrClient): ArrEntry {
  return {
    list: 'downloadclient',
    name,
    implementation,
    fields: { host: HOST, ...fields, tvCategory: category, movieCategory: category, musicCategory: category },
    address: ['host', 'port', 'urlBase'],
    initial: { enable: true },
  };
}
