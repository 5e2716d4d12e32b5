// Makes the YAML editor available as a format of service files.
import { Problem } from '#core';
import { finiteData } from '#kit/finite-data';
import { plainData } from '#kit/plain-data';
import { LARGE_YAML_BYTES, readTextAbove } from '#kit/text-thread';
import { YamlEditor, yamlValues } from '#kit/yaml-editor';
import type { ConfigFormat, EditedText, EditMode, FileObject, TextUpdate } from '../config-files/contract.ts';

export const yamlFormat: ConfigFormat = {
  name: 'yaml',
  extensions: ['.yaml', '.yml'],
  parse: text => readTextAbove(LARGE_YAML_BYTES, import.meta.url, parseYaml, text),
  edit: (text, updates, mode) =>
    readTextAbove(LARGE_YAML_BYTES, import.meta.url, editYaml, text, JSON.stringify(updates), mode),
  readUpdate: text => readTextAbove(LARGE_YAML_BYTES, import.meta.url, readYamlUpdate, text),
};

export function parseYaml(text: string): FileObject {
  return finiteData(plainData(yamlValues(text)));
}

/** `updatesText` is the JSON text of the values. */
export function editYaml(text: string, updatesText: string, mode: EditMode): EditedText {
  const editor = new YamlEditor(text);
  editor.apply(plainData(JSON.parse(updatesText) as FileObject), mode);
  return { text: editor.text, changed: editor.changed };
}

export function readYamlUpdate(text: string): TextUpdate {
  try {
    return { kind: 'values', values: plainData(yamlValues(text)) };
  } catch (error) {
    throw new Problem(400, `The update is not a YAML mapping: ${(error as Error).message}`, { cause: error });
  }
}
