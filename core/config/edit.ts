// Changes single values in the text of a configuration file; every other byte of it stays as it was.
import { applyEdits, findNodeAtLocation, modify, parseTree } from 'jsonc-parser';
import { isMap, parseDocument } from 'yaml';
import { Problem } from '../contract/problem.ts';
import { YamlEditor } from '../kit/yaml-editor.ts';
import type { ConfigEdit } from './layers.ts';
import type { ConfigFormat } from './load.ts';

/** Returns the text after all edits, made in their order. */
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
    (result, edit) => {
      const made = reachable(result, edit);
      if (made === undefined) return result;
      return applyEdits(result, modify(result, [...made.path], made.value, { formattingOptions }));
    },
    text.trim() === '' ? '{}\n' : text,
  );
}

/**
 * The edit that can be made: where a parent is not an object, the edit replaces that parent with one. undefined when
 * there is nothing to delete.
 */
function reachable(text: string, { path, value }: ConfigEdit): ConfigEdit | undefined {
  const tree = parseTree(text);
  for (let depth = 1; depth < path.length; depth += 1) {
    const node = tree === undefined ? undefined : findNodeAtLocation(tree, path.slice(0, depth));
    if (node === undefined || node.type === 'object') continue;
    const nested = path.slice(depth).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    return value === undefined ? undefined : { path: path.slice(0, depth), value: nested };
  }
  return { path, value };
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

/**
 * For edits that no replaced range of the text can express, such as deleting a mapping's last key: comments are kept,
 * spacing may change.
 */
function rewriteYaml(text: string, { path, value }: ConfigEdit): string {
  const document = parseDocument(text);
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never;
  if (value === undefined) document.deleteIn(path);
  else document.setIn(path, document.createNode(value));
  return document.toString({ lineWidth: 0 });
}
