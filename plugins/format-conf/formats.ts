// The formats of plain lines: INI files, and what templates say of files whose extension tells nothing.
import { Problem } from '#core';
import type { ConfigFormat } from '../config-files/contract.ts';
import type { ServiceTemplate } from '../services/contract.ts';
import { editSections, parseSections, readBackSections } from './sections.ts';
import { editSettings, parseSettings, readBackSettings } from './settings.ts';

type FormatFact = NonNullable<ServiceTemplate['formats']>[number];
type Dialect = Required<Pick<ConfigFormat, 'parse' | 'edit' | 'readBack'>>;

const DIALECTS: Readonly<Record<FormatFact['dialect'], Dialect>> = {
  sections: { parse: parseSections, edit: editSections, readBack: readBackSections },
  settings: { parse: parseSettings, edit: editSettings, readBack: readBackSettings },
};

const INI: FormatFact = { name: 'ini', dialect: 'sections', extensions: ['.ini'] };

/** INI files, and what templates name. */
export function formatsOf(templates: readonly ServiceTemplate[]): ConfigFormat[] {
  return [...templates.flatMap(({ formats = [] }) => formats), INI].map(formatOf);
}

function formatOf({ name, dialect, extensions, fileName, encryptedBy }: FormatFact): ConfigFormat {
  const { parse, edit, readBack } = DIALECTS[dialect];
  const refuseEncrypted = (text: string): void => {
    if (encryptedBy !== undefined && firstWords(text).startsWith(encryptedBy))
      throw new Problem(400, `The file is encrypted; remove its password with ${name} first`);
  };
  const parseOpen: ConfigFormat['parse'] = text => {
    refuseEncrypted(text);
    return parse(text);
  };
  return {
    name,
    extensions,
    ...(fileName === undefined ? {} : { matches: given => given.toLowerCase().includes(fileName) }),
    parse: parseOpen,
    edit(text, updates, mode) {
      refuseEncrypted(text);
      return edit(text, updates, mode);
    },
    readBack,
    readUpdate: readWholeFile(parseOpen),
  };
}

/** From the first line that is neither blank nor a comment. */
function firstWords(text: string): string {
  return (
    text
      .split('\n')
      .map(line => line.trim())
      .find(line => line !== '' && !line.startsWith('#')) ?? ''
  );
}

/** An update that is sent as text is the whole new file; it must be one that `parse` accepts. */
function readWholeFile(parse: ConfigFormat['parse']): ConfigFormat['readUpdate'] {
  return text => {
    try {
      parse(text);
    } catch (error) {
      throw new Problem(400, `The new file is not valid: ${(error as Error).message}`, { cause: error });
    }
    return { kind: 'file', text };
  };
}
