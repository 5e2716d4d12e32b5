// JSON with or without comments, edited value by value in its own text.

import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { isObject } from '#kit/plain-object';
import type { ConfigFormat, EditedText, EditMode, FileObject } from '../config-files/contract.ts';

const OPTIONS = { allowTrailingComma: true, disallowComments: false };
const BOM = '\uFEFF';

export const jsonFormat: ConfigFormat = {
  name: 'json',
  extensions: ['.json'],
  parse: text => getNodeValue(rootOf(withoutBom(text))) as FileObject,
  edit,
  readUpdate(text) {
    try {
      return { kind: 'values', values: getNodeValue(rootOf(text)) as FileObject };
    } catch (error) {
      throw new Problem(400, `The update is not a JSON object: ${(error as Error).message}`, { cause: error });
    }
  },
};

function edit(source: string, updates: FileObject, mode: EditMode): EditedText {
  const bom = source.startsWith(BOM) ? BOM : '';
  let text = withoutBom(source);
  let changed = 0;
  const formattingOptions = { ...styleOf(text), insertFinalNewline: false };
  const change = (path: readonly string[], value: unknown): void => {
    refuseTwins(text, path);
    text = applyEdits(text, modify(text, [...path], value, { formattingOptions }));
    changed += 1;
  };
  const visit = (path: readonly string[], wanted: FileObject): void => {
    for (const [key, value] of Object.entries(wanted)) {
      const at = [...path, key];
      const node = findNodeAtLocation(rootOf(text), at);
      if (node?.type === 'object' && isObject(value)) visit(at, value);
      else if (node === undefined || !deepEqual(getNodeValue(node), value)) change(at, value);
    }
    if (mode === 'merge') return;
    const present = findNodeAtLocation(rootOf(text), [...path]) ?? rootOf(text);
    for (const key of keysOf(present)) if (!Object.hasOwn(wanted, key)) change([...path, key], undefined);
  };
  visit([], updates);
  return { text: bom + text, changed };
}

function rootOf(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, OPTIONS);
  const [first] = errors;
  if (first !== undefined || root === undefined) {
    const { line, column } = placeOf(text, first?.offset ?? 0);
    const what = first === undefined ? 'it is empty' : printParseErrorCode(first.error);
    throw new Problem(422, `The file is not valid JSON: ${what} at line ${line}, column ${column}`);
  }
  if (root.type !== 'object') throw new Problem(422, 'The file is not a JSON object at line 1, column 1');
  return root;
}

/** With two members of one name an edit of the first would change nothing for readers, who take the last. */
function refuseTwins(text: string, path: readonly string[]): void {
  for (let depth = 0; depth < path.length; depth += 1) {
    const parent = findNodeAtLocation(rootOf(text), path.slice(0, depth));
    const twins = (parent?.children ?? []).filter(property => property.children?.[0]?.value === path[depth]);
    if (twins.length > 1) {
      const { line } = placeOf(text, twins[1]?.offset ?? 0);
      throw new Problem(
        400,
        `'${path.join('.')}' stands twice in the file, the second time at line ${line}; remove one`,
      );
    }
  }
}

function keysOf(node: Node): string[] {
  return (node.children ?? []).map(property => String(property.children?.[0]?.value));
}

function styleOf(text: string): { insertSpaces: boolean; tabSize: number; eol: string } {
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text;
}
