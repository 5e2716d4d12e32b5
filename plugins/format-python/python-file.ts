// Settings files in Python: `NAME = literal` at the top level is read and edited, everything else is left alone.

import { Problem } from '#core';
import { deepEqual } from '#kit/deep-equal';
import type { ConfigFormat, EditedText, EditMode, FileObject } from '../config-files/contract.ts';
import { endOfText, type Literal, readLiteral, skipSpace, writeLiteral } from './literal.ts';

interface Assignment {
  readonly name: string;
  readonly literal: Literal;
  /** Of the statement's first line. */
  readonly lineStart: number;
  readonly valueStart: number;
  /** Behind the line's end. */
  readonly lineEnd: number;
}

const STATEMENT = /([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?=(?!=)[ \t]*/y;
const HIDDEN = /^__.*__$/;

export const pythonFormat: ConfigFormat = {
  name: 'python',
  extensions: ['.py'],
  parse: text => Object.fromEntries(assignmentsOf(text).map(({ name, literal }) => [name, literal.value])),
  edit,
  readUpdate(text) {
    const source = text.trim();
    const literal = readLiteral(source, 0);
    if (literal?.kind === 'dict' && skipSpace(source, literal.end) === source.length) {
      return { kind: 'values', values: literal.value as FileObject };
    }
    try {
      const values: unknown = JSON.parse(source);
      if (typeof values === 'object' && values !== null && !Array.isArray(values)) {
        return { kind: 'values', values: values as FileObject };
      }
    } catch {
      // Neither form: said below.
    }
    throw new Problem(400, 'The update is neither a dict of literals nor a JSON object');
  },
};

function edit(text: string, updates: FileObject, mode: EditMode): EditedText {
  let edited = text;
  let changed = 0;
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  for (const [name, value] of Object.entries(updates)) {
    const assignments = assignmentsOf(edited);
    // Of several assignments the last one counts.
    const found = assignments.findLast(assignment => assignment.name === name);
    if (found === undefined) {
      checkNew(edited, name);
      const open = edited === '' || edited.endsWith('\n') ? '' : ending;
      edited += `${open}${name} = ${writeLiteral(value)}${ending}`;
    } else if (deepEqual(found.literal.value, value)) {
      continue;
    } else {
      const before = edited.slice(found.valueStart, found.literal.end);
      const quote = /^[rRuU]?(["'])/.exec(before)?.[1] ?? "'";
      const written = writeLiteral(value, found.literal.kind, quote);
      edited = edited.slice(0, found.valueStart) + written + edited.slice(found.literal.end);
    }
    changed += 1;
  }
  if (mode === 'replace') {
    for (const { name, lineStart, lineEnd } of assignmentsOf(edited).toReversed()) {
      if (Object.hasOwn(updates, name)) continue;
      edited = edited.slice(0, lineStart) + edited.slice(lineEnd);
      changed += 1;
    }
  }
  return { text: edited, changed };
}

/** Each logical line that begins at the first column and is `NAME = literal`. Throws a Problem 422 for an open text or bracket. */
function assignmentsOf(text: string): Assignment[] {
  const found: Assignment[] = [];
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; at < text.length; ) {
    const lineEnd = endOfLogicalLine(text, at);
    const assignment = assignmentAt(text, at, lineEnd);
    if (assignment !== null) found.push(assignment);
    at = lineEnd;
  }
  return found;
}

function assignmentAt(text: string, at: number, lineEnd: number): Assignment | null {
  STATEMENT.lastIndex = at;
  const [whole, name] = STATEMENT.exec(text) ?? [];
  if (whole === undefined || name === undefined || HIDDEN.test(name)) return null;
  const valueStart = at + whole.length;
  const literal = readLiteral(text, valueStart);
  // Behind the literal only a comment may stand; anything else makes it an expression.
  if (literal === null || !/^[ \t]*(#[^\n]*)?\r?\n?$/.test(text.slice(literal.end, lineEnd))) return null;
  return { name, literal, lineStart: at, valueStart, lineEnd };
}

/** Behind the line break that ends the statement, past texts, brackets and joined lines. */
function endOfLogicalLine(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '#') {
      const newline = text.indexOf('\n', at);
      if (newline < 0) return text.length;
      at = newline - 1;
    } else if (character === '"' || character === "'") {
      const end = endOfText(text, at);
      if (end === null) throw fault(text, at, 'a text is not closed');
      at = end - 1;
    } else if (character === '\\') at += text[at + 1] === '\r' ? 2 : 1;
    else if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    else if (character === '\n' && depth <= 0) return at + 1;
  }
  if (depth > 0) throw fault(text, start, 'a bracket is not closed');
  return text.length;
}

/** A name that the file sets in a way that cannot be edited must not be set a second time. */
function checkNew(text: string, name: string): void {
  if (!/^[A-Za-z_]\w*$/.test(name) || HIDDEN.test(name))
    throw new Problem(400, `'${name}' cannot be the name of a setting`);
  const index = text.search(new RegExp(`^${name}\\b\\s*[-+*/|&]?=`, 'm'));
  if (index < 0) return;
  const line = text.slice(0, index).split('\n').length;
  throw new Problem(400, `${name} is not set by a plain literal (line ${line}); edit the file by hand`);
}

function fault(text: string, at: number, what: string): Problem {
  const before = text.slice(0, at);
  const [line, column] = [before.split('\n').length, at - before.lastIndexOf('\n')];
  return new Problem(422, `The file is not valid Python: ${what} at line ${line}, column ${column}`);
}
