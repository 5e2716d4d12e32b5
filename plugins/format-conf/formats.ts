// The three formats of plain lines.
import { Problem } from '#core';
import type { ConfigFormat } from '../config-files/contract.ts';
import { editPostgresql, parsePostgresql, readBackPostgresql } from './postgresql.ts';
import { editSections, parseSections, readBackSections } from './sections.ts';

const ENCRYPTED = /^\s*(#[^\n]*\n\s*)*RCLONE_ENCRYPT_/;

function parseRclone(text: string) {
  if (ENCRYPTED.test(text)) throw new Problem(400, 'The file is encrypted; remove its password with rclone first');
  return parseSections(text);
}

/** A text replaces the whole file, once it is known to be readable. */
const wholeFile =
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
    readUpdate: wholeFile(parsePostgresql),
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
    readUpdate: wholeFile(parseRclone),
  },
  {
    name: 'ini',
    extensions: ['.ini'],
    parse: parseSections,
    edit: editSections,
    readBack: readBackSections,
    readUpdate: wholeFile(parseSections),
  },
];
