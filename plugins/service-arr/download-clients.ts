// The download services as clients of a media manager.
import type { ArrClient, ArrEntry } from './contract.ts';

const HOST = '127.0.0.1';

/** Each kind of manager has another name for the category. */
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
