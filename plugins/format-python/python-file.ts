// Edits Python settings files: `NAME = literal` at the top level is read and changed, all other code stays as it is.

import { Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import { mergedValues } from '#kit/merged-values';
import { refuseCostlyJson } from '#kit/nesting';
import { plainData } from '#kit/plain-data';
import { bareObject, isObject } from '#kit/plain-object';
import { positionAt } from '#kit/text-position';
import { applySplices, type Splice } from '#kit/text-splice';
import { readText } from '#kit/text-thread';
import type { ConfigFormat, EditedText, EditMode, FileObject, TextUpdate } from '../config-files/contract.ts';
import { boundNames } from './bound-names.ts';
import { findStringEnd, type Literal, MAX_DEPTH, readLiteral, skipSpace, writeLiteral } from './literal.ts';
import { editLiteral } from './literal-edit.ts';

interface Assignment {
  readonly name: string;
  readonly literal: Literal;
  /** Offset of the statement, which begins its line. */
  readonly startOffset: number;
  /** Offset after the statement's line break. */
  readonly endOffset: number;
}

const STATEMENT = /([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)[ \t]*/y;
const INDENTED = /[ \t\f]/;
const DECLARED_ENCODING = /^[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)/;
const MAX_DECLARATION = 400;
const DUNDER_NAME = /^__.*__$/;
/** None of them is ever the name of a setting. */
const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from ' +
    'global if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

export const pythonFormat: ConfigFormat = {
  name: 'python',
  extensions: ['.py'],
  parse: text => readText(import.meta.url, parsePython, text),
  edit: (text, updates, mode) => readText(import.meta.url, editPython, text, JSON.stringify(updates), mode),
  readUpdate: text => readText(import.meta.url, readPythonUpdate, text),
};

export function parsePython(text: string): FileObject {
  return bareObject(parseAssignments(text).assignments.map(({ name, literal }) => [name, literal.value]));
}

export function readPythonUpdate(text: string): TextUpdate {
  const source = text.trim();
  const literal = readLiteral(source, 0);
  if (literal?.kind === 'dict' && skipSpace(source, literal.endOffset) === source.length) {
    return { kind: 'values', values: literal.value as FileObject };
  }
  refuseCostlyJson(source);
  const values = parseJson(source);
  if (isObject(values)) return { kind: 'values', values };
  throw new Problem(400, 'The update is neither a dict of literals nor a JSON object');
}

/** The value of a JSON text; undefined for any other text. */
function parseJson(text: string): unknown {
  try {
    return plainData(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** `updatesText` is the JSON text of the values. */
export function editPython(text: string, updatesText: string, mode: EditMode): EditedText {
  const updates = plainData(JSON.parse(updatesText) as FileObject);
  const { assignments, computed } = parseAssignments(text);
  // Python uses the last of several assignments to a name.
  const lastByName = new Map(assignments.map(assignment => [assignment.name, assignment]));
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const splices: Splice[] = [];
  const added: string[] = [];
  for (const [name, value] of Object.entries(updates)) {
    const found = lastByName.get(name);
    if (found === undefined) {
      requireUnset(text, name, computed.get(name));
      added.push(`${name} = ${writeLiteral(value)}${ending}`);
      continue;
    }
    const { startOffset, endOffset, value: before } = found.literal;
    const wanted = mode === 'merge' ? mergedValues(before, value) : value;
    if (!deepEqual(before, wanted))
      splices.push({ startOffset, endOffset, text: editLiteral(text, found.literal, wanted) });
  }
  for (const { name, startOffset, endOffset } of mode === 'replace' ? assignments : []) {
    if (!Object.hasOwn(updates, name)) splices.push({ startOffset, endOffset, text: '' });
  }
  const written = (source: string): string => (isReadAsUtf8(text) ? source : inAscii(source));
  const edited = applySplices(
    text,
    splices.map(splice => ({ ...splice, text: written(splice.text) })),
  );
  const open = added.length === 0 || edited === '' || edited.endsWith('\n') ? '' : ending;
  return { text: edited + open + written(added.join('')), changed: splices.length + added.length };
}

/** Whether Python takes the bytes for UTF-8: a file of ASCII may declare another encoding in its first two lines. */
function isReadAsUtf8(text: string): boolean {
  const lines = text.slice(0, MAX_DECLARATION).split('\n', 2);
  const [declared = 'utf-8'] = lines.flatMap(line => DECLARED_ENCODING.exec(line)?.[1] ?? []);
  return /^utf[-_]?8/i.test(declared);
}

/** The same literals with escapes, so that Python reads them in any encoding. */
function inAscii(source: string): string {
  return source.replaceAll(/[^\0-\x7f]/gu, character => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

interface Statements {
  /** The statements `NAME = literal` at the top level whose value the name still has at the end. */
  readonly assignments: readonly Assignment[];
  /** The offset of the last statement that may give a name another value than a literal. */
  readonly computed: ReadonlyMap<string, number>;
}

/** Throws a Problem 422 for a string or bracket that is not closed. */
function parseAssignments(text: string): Statements {
  const found: Assignment[] = [];
  const computed = new Map<string, number>();
  const globals = new Map<string, number>();
  for (const [at, endOffset] of statementsIn(text)) {
    const assignment = parseAssignment(text, at, endOffset);
    if (assignment !== null) {
      found.push(assignment);
      computed.delete(assignment.name);
      continue;
    }
    const bound = boundNames(text, at, endOffset);
    // What is indented happens under a condition, or in a function, whose names are its own.
    const own = INDENTED.test(text[at] ?? '') ? [] : bound.own;
    for (const name of own) computed.set(name, at);
    for (const name of bound.globals) globals.set(name, at);
  }
  for (const [name, offset] of globals) computed.set(name, offset);
  return { assignments: found.filter(({ name }) => !computed.has(name)), computed };
}

/** The offsets at which each statement begins and ends. */
function* statementsIn(text: string): Generator<[number, number]> {
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; at < text.length; ) {
    const endOffset = findStatementEnd(text, at);
    yield [at, endOffset];
    at = endOffset;
  }
}

function parseAssignment(text: string, at: number, endOffset: number): Assignment | null {
  STATEMENT.lastIndex = at;
  const [whole, name] = STATEMENT.exec(text) ?? [];
  // A line such as `else: NAME = literal` looks like a name with an annotation.
  if (whole === undefined || name === undefined || DUNDER_NAME.test(name) || KEYWORDS.has(name)) return null;
  const valueOffset = at + whole.length;
  const literal = readLiteral(text, valueOffset);
  // Anything but a comment after the literal makes it a part of an expression.
  if (literal === null || !/^[ \t]*(#[^\n]*)?\r?\n?$/.test(text.slice(literal.endOffset, endOffset))) return null;
  return { name, literal, startOffset: at, endOffset };
}

/** The offset after the line break that ends a statement; strings, brackets and escaped line breaks continue it. */
function findStatementEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at = findTokenEnd(text, at)) {
    const character = text[at] ?? '';
    if (character === '\n' && depth <= 0) return at + 1;
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    if (depth > MAX_DEPTH) throw createProblem(text, at, `brackets are nested deeper than ${MAX_DEPTH} levels`);
  }
  if (depth > 0) throw createProblem(text, start, 'a bracket is not closed');
  return text.length;
}

/** The offset after the comment, the text, the escaped line break or the single character that begins there. */
function findTokenEnd(text: string, start: number): number {
  switch (text[start]) {
    case '#': {
      const newline = text.indexOf('\n', start);
      return newline < 0 ? text.length : newline;
    }
    case '"':
    case "'": {
      const end = findStringEnd(text, start);
      if (end === null) throw createProblem(text, start, 'a text is not closed');
      return end;
    }
    case '\\': {
      const end = start + (text[start + 1] === '\r' ? 3 : 2);
      // An added line would continue this one.
      if (end >= text.length) throw createProblem(text, start, 'no line follows a backslash');
      return end;
    }
    default:
      return start + 1;
  }
}

/**
 * Throws a Problem 400 when the file already sets the name in a way that cannot be edited, or the name is not valid.
 */
function requireUnset(text: string, name: string, setOffset: number | undefined): void {
  if (!/^[A-Za-z_]\w*$/.test(name) || DUNDER_NAME.test(name) || KEYWORDS.has(name))
    throw new Problem(400, `'${name}' cannot be the name of a setting`);
  if (setOffset === undefined) return;
  const { line } = positionAt(text, setOffset);
  throw new Problem(400, `${name} is not set by a plain literal (line ${line}); edit the file by hand`);
}

function createProblem(text: string, at: number, what: string): Problem {
  const { line, column } = positionAt(text, at);
  return new Problem(422, `The file is not valid Python: ${what} at line ${line}, column ${column}`);
}
