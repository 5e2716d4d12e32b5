// Makes the JSON editor available as a format of service files.
import { Problem } from '#core';
import { finiteData } from '#kit/finite-data';
import { editJson as editValues, jsonValues } from '#kit/json-editor';
import { plainData } from '#kit/plain-data';
import { readText } from '#kit/text-thread';
import type { ConfigFormat, EditedText, EditMode, FileObject, TextUpdate } from '../config-files/contract.ts';

export const jsonFormat: ConfigFormat = {
  name: 'json',
  extensions: ['.json'],
  parse: text => readText(import.meta.url, parseJson, text),
  edit: (text, updates, mode) => readText(import.meta.url, editJson, text, JSON.stringify(updates), mode),
  readUpdate: text => readText(import.meta.url, readJsonUpdate, text),
};

export function parseJson(text: string): FileObject {
  return finiteData(jsonValues(text));
}

export function readJsonUpdate(text: string): TextUpdate {
  try {
    return { kind: 'values', values: jsonValues(text) };
  } catch (error) {
    throw new Problem(400, `The update is not a JSON object: ${(error as Error).message}`, { cause: error });
  }
}

/** `updatesText` is the JSON text of the values. */
export function editJson(text: string, updatesText: string, mode: EditMode): EditedText {
  return editValues(text, plainData(JSON.parse(updatesText) as FileObject), mode);
}
