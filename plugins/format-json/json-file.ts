// Edits JSON, with or without comments: the ranges of changed values are replaced, every other byte is kept.

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
import { positionAt } from '#kit/text-position';
import type { ConfigFormat, EditedText, EditMode, FileObject } from '../config-files/contract.ts';

const PARSE_OPTIONS = { allowTrailingComma: true, disallowComments: false };
const BOM = '\uFEFF';

export const jsonFormat: ConfigFormat = {
  name: 'json',
  extensions: ['.json'],
  parse: text => getNodeValue(parseRoot(removeBom(text))) as FileObject,
  edit,
  readUpdate(text) {
    try {
      return { kind: 'values', values: getNodeValue(parseRoot(text)) as FileObject };
    } catch (error) {
      throw new Problem(400, `The update is not a JSON object: ${(error as Error).message}`, { cause: error });
    }
  },
};

function edit(source: string, updates: FileObject, mode: EditMode): EditedText {
  const bom = source.startsWith(BOM) ? BOM : '';
  let text = removeBom(source);
  let changed = 0;
  const formattingOptions = { ...detectStyle(text), insertFinalNewline: false };
  const change = (path: readonly string[], value: unknown): void => {
    refuseDuplicates(text, path);
    text = applyEdits(text, modify(text, [...path], value, { formattingOptions }));
    changed += 1;
  };
  const visit = (path: readonly string[], wanted: FileObject): void => {
    for (const [key, value] of Object.entries(wanted)) {
      const at = [...path, key];
      const node = findNodeAtLocation(parseRoot(text), at);
      if (node?.type === 'object' && isObject(value)) visit(at, value);
      else if (node === undefined || !deepEqual(getNodeValue(node), value)) change(at, value);
    }
    if (mode === 'merge') return;
    const present = findNodeAtLocation(parseRoot(text), [...path]) ?? parseRoot(text);
    for (const key of listKeys(present)) if (!Object.hasOwn(wanted, key)) change([...path, key], undefined);
  };
  visit([], updates);
  return { text: bom + text, changed };
}

function parseRoot(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, PARSE_OPTIONS);
  const [first] = errors;
  if (first !== undefined || root === undefined) {
    const { line, column } = positionAt(text, first?.offset ?? 0);
    const what = first === undefined ? 'it is empty' : printParseErrorCode(first.error);
    throw new Problem(422, `The file is not valid JSON: ${what} at line ${line}, column ${column}`);
  }
  if (root.type !== 'object') throw new Problem(422, 'The file is not a JSON object at line 1, column 1');
  return root;
}

/** Programs use the last of two members with the same name, so editing the first one would have no effect. */
function refuseDuplicates(text: string, path: readonly string[]): void {
  for (let depth = 0; depth < path.length; depth += 1) {
    const parent = findNodeAtLocation(parseRoot(text), path.slice(0, depth));
    const duplicates = (parent?.children ?? []).filter(property => property.children?.[0]?.value === path[depth]);
    if (duplicates.length > 1) {
      const { line } = positionAt(text, duplicates[1]?.offset ?? 0);
      throw new Problem(
        400,
        `'${path.join('.')}' stands twice in the file, the second time at line ${line}; remove one`,
      );
    }
  }
}

function listKeys(node: Node): string[] {
  return (node.children ?? []).map(property => String(property.children?.[0]?.value));
}

function detectStyle(text: string): { insertSpaces: boolean; tabSize: number; eol: string } {
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

function removeBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text;
}
