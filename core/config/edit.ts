// Changes single values in the text of a configuration file; every other byte of it stays as it was.
import { applyEdits, modify } from 'jsonc-parser';
import { isMap, parseDocument } from 'yaml';
import { Problem } from '../problem.ts';
import type { ConfigEdit } from './layers.ts';
import type { ConfigFormat } from './load.ts';
import { YamlEditor } from './yaml-text.ts';

/** The text with every edit made, in order. */
export function editText(text: string, format: ConfigFormat, edits: readonly ConfigEdit[]): string {
  return format === 'json' ? editJson(text, edits) : editYaml(text, edits);
}

function editJson(text: string, edits: readonly ConfigEdit[]): string {
  const formattingOptions = {
    insertSpaces: !/\n\t/.test(text),
    tabSize: indentOf(text),
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  return edits.reduce(
    (result, { path, value }) => applyEdits(result, modify(result, [...path], value, { formattingOptions })),
    text.trim() === '' ? '{}\n' : text,
  );
}

function indentOf(text: string): number {
  return /\n( +)\S/.exec(text)?.[1]?.length ?? 4;
}

function editYaml(text: string, edits: readonly ConfigEdit[]): string {
  return edits.reduce((result, edit) => {
    try {
      const editor = new YamlEditor(result);
      if (edit.value === undefined) editor.remove(edit.path);
      else editor.set(edit.path, edit.value);
      return editor.text;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return rewriteYaml(result, edit);
    }
  }, text);
}

/** Where no range of the text can be replaced, as for the last key of a mapping: comments stay, spacing may not. */
function rewriteYaml(text: string, { path, value }: ConfigEdit): string {
  const document = parseDocument(text);
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never;
  if (value === undefined) document.deleteIn(path);
  else document.setIn(path, document.createNode(value));
  return document.toString({ lineWidth: 0 });
}
