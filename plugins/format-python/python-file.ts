// Edits Python settings files: `NAME = literal` at the top level is read and changed, all other code stays as it is.

import { Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { isObject } from '#kit/plain-object';
import { positionAt } from '#kit/text-position';
import type { ConfigFormat, EditedText, EditMode, FileObject } from '../config-files/contract.ts';
import { findStringEnd, type Literal, readLiteral, skipSpace, writeLiteral } from './literal.ts';

interface Assignment {
  readonly name: string;
  readonly literal: Literal;
  /** Offset of the statement, which begins its line. */
  readonly startOffset: number;
  readonly valueOffset: number;
  /** Offset after the statement's line break. */
  readonly endOffset: number;
}

const STATEMENT = /([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)[ \t]*/y;
const DUNDER_NAME = /^__.*__$/;

export const pythonFormat: ConfigFormat = {
  name: 'python',
  extensions: ['.py'],
  parse: text => Object.fromEntries(parseAssignments(text).map(({ name, literal }) => [name, literal.value])),
  edit,
  readUpdate(text) {
    const source = text.trim();
    const literal = readLiteral(source, 0);
    if (literal?.kind === 'dict' && skipSpace(source, literal.endOffset) === source.length) {
      return { kind: 'values', values: literal.value as FileObject };
    }
    const values = parseJson(source);
    if (isObject(values)) return { kind: 'values', values };
    throw new Problem(400, 'The update is neither a dict of literals nor a JSON object');
  },
};

/** The value of a JSON text; undefined for any other text. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function edit(text: string, updates: FileObject, mode: EditMode): EditedText {
  let edited = text;
  let changed = 0;
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  for (const [name, value] of Object.entries(updates)) {
    const assignments = parseAssignments(edited);
    // Python uses the last of several assignments to a name.
    const found = assignments.findLast(assignment => assignment.name === name);
    if (found === undefined) {
      requireUnset(edited, name);
      const open = edited === '' || edited.endsWith('\n') ? '' : ending;
      edited += `${open}${name} = ${writeLiteral(value)}${ending}`;
    } else if (deepEqual(found.literal.value, value)) {
      continue;
    } else {
      const before = edited.slice(found.valueOffset, found.literal.endOffset);
      const quote = /^[rRuU]?(["'])/.exec(before)?.[1] ?? "'";
      const written = writeLiteral(value, found.literal.kind, quote);
      edited = edited.slice(0, found.valueOffset) + written + edited.slice(found.literal.endOffset);
    }
    changed += 1;
  }
  if (mode === 'replace') {
    for (const { name, startOffset, endOffset } of parseAssignments(edited).toReversed()) {
      if (Object.hasOwn(updates, name)) continue;
      edited = edited.slice(0, startOffset) + edited.slice(endOffset);
      changed += 1;
    }
  }
  return { text: edited, changed };
}

/**
 * The statements `NAME = literal` at the top level. Throws a Problem 422 for a string or bracket that is not closed.
 */
function parseAssignments(text: string): Assignment[] {
  const found: Assignment[] = [];
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; at < text.length; ) {
    const endOffset = findStatementEnd(text, at);
    const assignment = parseAssignment(text, at, endOffset);
    if (assignment !== null) found.push(assignment);
    at = endOffset;
  }
  return found;
}

function parseAssignment(text: string, at: number, endOffset: number): Assignment | null {
  STATEMENT.lastIndex = at;
  const [whole, name] = STATEMENT.exec(text) ?? [];
  if (whole === undefined || name === undefined || DUNDER_NAME.test(name)) return null;
  const valueOffset = at + whole.length;
  const literal = readLiteral(text, valueOffset);
  // Anything but a comment after the literal makes it a part of an expression.
  if (literal === null || !/^[ \t]*(#[^\n]*)?\r?\n?$/.test(text.slice(literal.endOffset, endOffset))) return null;
  return { name, literal, startOffset: at, valueOffset, endOffset };
}

/** The offset after the line break that ends a statement; strings, brackets and escaped line breaks continue it. */
function findStatementEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '#') {
      const newline = text.indexOf('\n', at);
      if (newline < 0) return text.length;
      at = newline - 1;
    } else if (character === '"' || character === "'") {
      const end = findStringEnd(text, at);
      if (end === null) throw createProblem(text, at, 'a text is not closed');
      at = end - 1;
    } else if (character === '\\') at += text[at + 1] === '\r' ? 2 : 1;
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === '\n' && depth <= 0) return at + 1;
  }
  if (depth > 0) throw createProblem(text, start, 'a bracket is not closed');
  return text.length;
}

/**
 * Throws a Problem 400 when the file already sets the name in a way that cannot be edited, or the name is not valid.
 */
function requireUnset(text: string, name: string): void {
  if (!/^[A-Za-z_]\w*$/.test(name) || DUNDER_NAME.test(name))
    throw new Problem(400, `'${name}' cannot be the name of a setting`);
  const index = text.search(new RegExp(`^${name}\\b\\s*[-+*/|&]?=`, 'm'));
  if (index < 0) return;
  const { line } = positionAt(text, index);
  throw new Problem(400, `${name} is not set by a plain literal (line ${line}); edit the file by hand`);
}

function createProblem(text: string, at: number, what: string): Problem {
  const { line, column } = positionAt(text, at);
  return new Problem(422, `The file is not valid Python: ${what} at line ${line}, column ${column}`);
}
