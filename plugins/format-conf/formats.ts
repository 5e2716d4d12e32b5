// The formats of plain lines: INI files, and those that templates describe for files whose extension does not tell the
// format.
import { Problem } from '#core';
import { plainData } from '#kit/plain-data';
import { readText } from '#kit/text-thread';
import type { ConfigFormat, EditedText, EditMode, FileObject, TextUpdate } from '../config-files/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';
import { editSections, parseSections, readBackSections } from './sections.ts';
import { editSettings, parseSettings, readBackSettings } from './settings.ts';

type FormatFact = NonNullable<ServiceTemplate['formats']>[number];
/** `ini` is `sections` for programs that also know other kinds of lines. */
type Dialect = FormatFact['dialect'] | 'ini';
/** The facts of one format. */
type FormatLook = Omit<FormatFact, 'dialect'> & { readonly dialect: Dialect };
/** What the functions need to know of a format, as data that can be sent to a thread. */
interface Facts {
  readonly name: string;
  readonly dialect: Dialect;
  readonly encryptedBy: string | undefined;
}

const PARSERS: Record<Dialect, (text: string) => FileObject> = {
  ini: text => parseSections(text, 'carry'),
  sections: text => parseSections(text, 'refuse'),
  settings: parseSettings,
};
const EDITORS: Record<Dialect, (text: string, updates: FileObject, mode: EditMode) => EditedText> = {
  ini: (text, updates, mode) => editSections(text, updates, mode, 'carry'),
  sections: (text, updates, mode) => editSections(text, updates, mode, 'refuse'),
  settings: editSettings,
};
const READ_BACKS = { ini: readBackSections, sections: readBackSections, settings: readBackSettings } as const;

const INI: FormatLook = { name: 'ini', dialect: 'ini', extensions: ['.ini'] };

/** The format of INI files, and those that templates name. */
export function formatsOf(templates: readonly ServiceTemplate[]): ConfigFormat[] {
  const named = templates.flatMap(({ formats = [] }): readonly FormatLook[] => formats);
  return [...named, INI].map(formatOf);
}

function formatOf({ name, dialect, extensions, fileName, encryptedBy }: FormatLook): ConfigFormat {
  const facts: Facts = { name, dialect, encryptedBy };
  const url = import.meta.url;
  return {
    name,
    extensions,
    ...(fileName === undefined ? {} : { matches: given => given.toLowerCase().includes(fileName) }),
    parse: text => readText(url, parseConf, text, facts),
    edit: (text, updates, mode) => readText(url, editConf, text, JSON.stringify(updates), mode, facts),
    readBack: READ_BACKS[dialect],
    readUpdate: text => readText(url, readConfUpdate, text, facts),
  };
}

export function parseConf(text: string, facts: Facts): FileObject {
  refuseEncrypted(text, facts);
  return PARSERS[facts.dialect](text);
}

/** `updatesText` is the JSON text of the values. */
export function editConf(text: string, updatesText: string, mode: EditMode, facts: Facts): EditedText {
  refuseEncrypted(text, facts);
  return EDITORS[facts.dialect](text, plainData(JSON.parse(updatesText) as FileObject), mode);
}

/** An update that is sent as text is the whole new file; it must be one that can be parsed. */
export function readConfUpdate(text: string, facts: Facts): TextUpdate {
  try {
    parseConf(text, facts);
  } catch (error) {
    throw new Problem(400, `The new file is not valid: ${(error as Error).message}`, { cause: error });
  }
  return { kind: 'file', text };
}

function refuseEncrypted(text: string, { name, encryptedBy }: Facts): void {
  if (encryptedBy !== undefined && firstWords(text).startsWith(encryptedBy))
    throw new Problem(400, `The file is encrypted; remove its password with ${name} first`);
}

/** The first line that is neither blank nor a comment; empty where there is none. */
function firstWords(text: string): string {
  return (
    text
      .split('\n')
      .map(line => line.trim())
      .find(line => line !== '' && !line.startsWith('#')) ?? ''
  );
}
