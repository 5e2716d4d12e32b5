// Reads the list of the packages of a repository, in a thread. Only entries whose fields have a harmless form are kept.
import { readText } from '#kit/text-thread';

export interface PackageEntry {
  readonly name: string;
  readonly version: string;
  /** Path below the repository. */
  readonly file: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** The dependencies, each as a list of alternatives of which one suffices. */
  readonly needs: readonly (readonly string[])[];
}

const NAME = /^[a-z0-9][a-z0-9+.-]+$/;
const VERSION = /^\d[A-Za-z0-9.+~:-]{0,99}$/;
const FILE = /^[\w+~:@%-][\w.+~:@%-]*(\/[\w+~:@%-][\w.+~:@%-]*)*\.deb$/;
const SHA256 = /^[0-9a-f]{64}$/;
const SIZE = /^\d{1,12}$/;

export function readPackages(text: string): Promise<PackageEntry[]> {
  return readText(import.meta.url, packageEntries, text);
}

/**
 * The entries of the text. Entries with a missing or malformed field are left out.
 *
 * @public The thread for large texts calls this function by its name.
 */
export function packageEntries(text: string): PackageEntry[] {
  return text.split('\n\n').flatMap(stanza => entryOf(fieldsOf(stanza)) ?? []);
}

function entryOf(fields: ReadonlyMap<string, string>): PackageEntry | undefined {
  const told = (field: string, form: RegExp): string | undefined => {
    const value = fields.get(field);
    return value !== undefined && form.test(value) ? value : undefined;
  };
  const name = told('Package', NAME);
  const version = told('Version', VERSION);
  const file = told('Filename', FILE);
  const size = told('Size', SIZE);
  const sha256 = told('SHA256', SHA256);
  if (name === undefined || version === undefined || file === undefined || size === undefined || sha256 === undefined)
    return undefined;
  const needs = [fields.get('Pre-Depends'), fields.get('Depends')].flatMap(value => value?.split(',') ?? []);
  return {
    name,
    version,
    file,
    sizeBytes: Number(size),
    sha256,
    needs: needs.map(alternatives => alternatives.split('|').flatMap(nameIn)),
  };
}

/** The name in `name:any (>= 1.0) [arch]`. */
function nameIn(text: string): string[] {
  const name = text.trim().split(/[\s:(]/, 1)[0] ?? '';
  return NAME.test(name) ? [name] : [];
}

/** The fields of an entry by name, without continuation lines, which no field here needs. */
function fieldsOf(stanza: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of stanza.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0 && !line.startsWith(' ')) fields.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return fields;
}
