// Makes the YAML editor available as a format of service files.
import { Problem } from '#core';
import { YamlEditor, yamlValues } from '#kit/yaml-editor';
import type { ConfigFormat } from '../config-files/contract.ts';

export const yamlFormat: ConfigFormat = {
  name: 'yaml',
  extensions: ['.yaml', '.yml'],
  parse: yamlValues,
  edit(text, updates, mode) {
    const editor = new YamlEditor(text);
    editor.apply(updates, mode);
    return { text: editor.text, changed: editor.changed };
  },
  readUpdate(text) {
    try {
      return { kind: 'values', values: yamlValues(text) };
    } catch (error) {
      throw new Problem(400, `The update is not a YAML mapping: ${(error as Error).message}`, { cause: error });
    }
  },
};
