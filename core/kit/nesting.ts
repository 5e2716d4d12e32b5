// Refuses texts of JSON that nest too deep or hold too many values, before anything parses them: in linear time, in
// constant space, without recursion. See yaml-nesting.ts for those of YAML, which takes a library.
import { Problem } from '../contract/problem.ts';
import { MAX_NESTING } from './nesting-limit.ts';

/** Values of one text, those that its aliases repeat counted each time. */
export const MAX_VALUES = 100_000;

/** Each value but the outermost has one comma behind it at most, and opens one object or list at most. */
const MAX_JSON_MARKS = 2 * MAX_VALUES + 1;

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/**
 * Throws a Problem for a text of JSON, with or without comments: 400 when it nests deeper than `MAX_NESTING`, 413 when
 * it has more than `MAX_VALUES` values.
 */
export function refuseCostlyJson(text: string): void {
  const open: string[] = [];
  let marks = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    switch (character) {
      case '"':
        at = endOfString(text, at);
        break;
      case '/':
        at = endOfComment(text, at);
        break;
      case '}':
      case ']':
        leave(open, character);
        break;
      case '{':
      case '[':
        marks = withOneMore(marks);
        enter(open, character);
        break;
      case ',':
        marks = withOneMore(marks);
        break;
    }
  }
}

function withOneMore(marks: number): number {
  if (marks >= MAX_JSON_MARKS) throw tooMany();
  return marks + 1;
}

/** Throws a Problem 400 when a bracket lies too deep; `outer` counts what is open around all brackets. */
export function enter(open: string[], bracket: string, outer = 0): void {
  push(open, CLOSING[bracket] as string, outer);
}

export function push(open: string[], closing: string, outer: number): void {
  open.push(closing);
  if (outer + open.length > MAX_NESTING) throw tooDeep();
}

/** A bracket that closes something else is skipped, as parsers that recover from errors do. */
export function leave(open: string[], bracket: string): void {
  if (open.at(-1) === bracket) open.pop();
}

export function tooMany(): Problem {
  return new Problem(413, `The data has more than ${MAX_VALUES} values; shorten it`);
}

export function tooDeep(): Problem {
  return new Problem(400, `The text is nested deeper than ${MAX_NESTING} levels`);
}

/** The offset of the closing quote. A string ends with its line at the latest. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22 || code === 0x0a || code === 0x0d) return at;
    if (code === 0x5c) at += 1;
  }
  return text.length;
}

function endOfComment(text: string, start: number): number {
  const isLine = text[start + 1] === '/';
  if (!isLine && text[start + 1] !== '*') return start;
  const end = isLine ? text.indexOf('\n', start) : text.indexOf('*/', start + 2);
  return end < 0 ? text.length : isLine ? end : end + 1;
}
