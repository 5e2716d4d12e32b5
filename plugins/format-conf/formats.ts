// The formats of files that consist of one setting per line: postgresql.conf, rclone's configuration and INI.
import { Problem } from '#core';
import type { ConfigFormat } from '../config-files/contract.ts';
import { editPostgresql, parsePostgresql, readBackPostgresql } from './postgresql.ts';
import { editSections, parseSections, readBackSections } from './sections.ts';

const ENCRYPTED_FILE = /^\s*(#[^\n]*\n\s*)*RCLONE_ENCRYPT_/;

function parseRclone(text: string) {
  if (ENCRYPTED_FILE.test(text)) throw new Problem(400, 'The file is encrypted; remove its password with rclone first');
  return parseSections(text);
}

/** An update that is sent as text is the whole new file; it must be one that `parse` accepts. */
const readWholeFile =
  (parse: ConfigFormat['parse']): ConfigFormat['readUpdate'] =>
  text => {
    try {
      parse(text);
    } catch (error) {
      throw new Problem(400, `The new file is not valid: ${(error as Error).message}`, { cause: error });
    }
    return { kind: 'file', text };
  };

export const formats: readonly ConfigFormat[] = [
  {
    name: 'postgresql',
    extensions: ['.conf', '.config'],
    matches: fileName => fileName.toLowerCase().includes('postgresql'),
    parse: parsePostgresql,
    edit: editPostgresql,
    readBack: readBackPostgresql,
    readUpdate: readWholeFile(parsePostgresql),
  },
  {
    name: 'rclone',
    extensions: ['.conf', '.config'],
    parse: parseRclone,
    edit(text, updates, mode) {
      parseRclone(text);
      return editSections(text, updates, mode);
    },
    readBack: readBackSections,
    readUpdate: readWholeFile(parseRclone),
  },
  {
    name: 'ini',
    extensions: ['.ini'],
    parse: parseSections,
    edit: editSections,
    readBack: readBackSections,
    readUpdate: readWholeFile(parseSections),
  },
];
