// Which names a Python statement binds, changes or removes, by its words and signs alone: assignments of any form, also
// to an item, `for`, `del`, `import`, `def`, `class`, `with ... as`, `:=`, and a call of a method that nothing is made
// of, as `NAME.append(1)`. `global` lets a function bind them, whenever it is called.
import { findStringEnd } from './literal.ts';

export interface BoundNames {
  /** The names that the statement binds or changes, whatever happens in its block. */
  readonly own: readonly string[];
  /** The names that a `global` in it names. */
  readonly globals: readonly string[];
}

/** No backslash: outside of a text it only continues the line. */
const TOKEN = /[\p{L}\p{N}_]+|:=|(?:\*\*|\/\/|<<|>>|[-+*/%@&|^=!<>])=?|[^\s\\]/gu;
const WORD = /^[\p{L}_]/u;
const COMPARISONS = new Set(['==', '!=', '<=', '>=']);
/** What begins a block, whose first statements may stand behind the colon. */
const HEADS = new Set('if elif else for while with try except finally def class'.split(' '));

type Tokens = readonly string[];

/** `text` from `at` to `endOffset` is one line of code, with the lines that continue it. */
export function boundNames(text: string, at: number, endOffset: number): BoundNames {
  const tokens = [...bareCode(text, at, endOffset).matchAll(TOKEN)].map(([token]) => token);
  const [first = '', second = ''] = tokens;
  const start = first === 'async' ? 1 : 0;
  const head = start === 0 ? first : second;
  const isBlock = HEADS.has(head);
  const depths = depthsOf(tokens);
  const colon = isBlock ? tokens.findIndex((token, index) => token === ':' && depths[index] === 0) : -1;
  const body = statementsIn(tokens.slice(colon + 1));
  return {
    own: isBlock ? ofHead(tokens.slice(start, colon)) : body.flatMap(ofStatement),
    globals: body.flatMap(([word, ...names]) => (word === 'global' ? names.filter(isWord) : [])),
  };
}

/** The code without comments and with every text as an empty one. */
function bareCode(text: string, start: number, endOffset: number): string {
  const parts: string[] = [];
  let from = start;
  for (let at = start; at < endOffset; at += 1) {
    const character = text[at] ?? '';
    const isText = character === '"' || character === "'";
    if (!isText && character !== '#') continue;
    const end = (isText ? findStringEnd(text, at) : commentEnd(text, at)) ?? endOffset;
    parts.push(text.slice(from, at), isText ? "''" : '');
    from = end;
    at = end - 1;
  }
  return [...parts, text.slice(from, endOffset)].join('');
}

/** null for a comment that ends with the text. */
function commentEnd(text: string, start: number): number | null {
  const newline = text.indexOf('\n', start);
  return newline < 0 ? null : newline;
}

/** How many brackets are open before each token. */
function depthsOf(tokens: Tokens): readonly number[] {
  let depth = 0;
  return tokens.map(token => {
    if (')]}'.includes(token)) depth -= 1;
    const own = depth;
    if ('([{'.includes(token)) depth += 1;
    return own;
  });
}

/** The parts between the separators that are in no brackets. */
function partsOf(tokens: Tokens, isSeparator: (token: string) => boolean): string[][] {
  const depths = depthsOf(tokens);
  const parts: string[][] = [[]];
  for (const [index, token] of tokens.entries())
    if (depths[index] === 0 && isSeparator(token)) parts.push([]);
    else parts.at(-1)?.push(token);
  return parts;
}

function statementsIn(tokens: Tokens): string[][] {
  return partsOf(tokens, token => token === ';');
}

function ofHead(tokens: Tokens): string[] {
  const [word, ...rest] = tokens;
  if (word === 'def' || word === 'class') return rest.slice(0, 1);
  const [targets = []] = word === 'for' ? partsOf(rest, token => token === 'in') : [];
  return [...ofTargets(targets), ...ofAliases(tokens)];
}

function ofStatement(tokens: Tokens): string[] {
  const [word, ...rest] = tokens;
  if (word === 'del') return ofTargets(rest);
  if (word === 'import' || word === 'from') return [...ofImports(tokens), ...ofAliases(tokens)];
  // A default of a lambda is no assignment.
  const lambda = tokens.indexOf('lambda');
  const targets = partsOf(lambda < 0 ? tokens : tokens.slice(0, lambda), isAssignment).slice(0, -1);
  const changed = targets.length === 0 ? ofMethodCall(tokens) : [];
  return [...targets.flatMap(ofTargets), ...changed, ...ofAliases(tokens)];
}

/** A call that is a statement of its own, of a method of a name or of one of its items, changes it. */
function ofMethodCall(tokens: Tokens): string[] {
  const [word = '', after = ''] = tokens;
  return isWord(word) && (after === '.' || after === '[') && tokens.at(-1) === ')' ? [word] : [];
}

/** `import a.b` binds a, `from a import b` binds b. */
function ofImports(tokens: Tokens): string[] {
  const imported = tokens.slice(tokens.indexOf('import') + 1).filter(token => token !== '(' && token !== ')');
  return partsOf(imported, token => token === ',').flatMap(part => (part.includes('as') ? [] : part.slice(0, 1)));
}

/** The names that are bound by `as NAME`, which may be several in brackets, or by `NAME :=`. */
function ofAliases(tokens: Tokens): string[] {
  const names: string[] = [];
  let isOpen = false;
  for (const [index, token] of tokens.entries()) {
    const [before = '', after = ''] = [tokens[index - 1], tokens[index + 1]];
    if (token === ')' || token === ']') isOpen = false;
    else if ((token === '(' || token === '[') && before === 'as') isOpen = true;
    else if (isWord(token) && (after === ':=' || ((isOpen || before === 'as') && !isPrefix(after)))) names.push(token);
  }
  return names;
}

/** Neither attributes of a name change it, nor what stands in the brackets of an item. An annotation ends a target. */
function ofTargets(tokens: Tokens): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const [before = '', after = ''] = [tokens[index - 1], tokens[index + 1]];
    if (depth > 0) depth += nestingOf(token);
    else if (isAccess(before, token)) depth = 1;
    else if (token === ':') break;
    else if (isWord(token) && before !== '.' && !isPrefix(after)) names.push(token);
  }
  return names;
}

/** Whether the token opens the arguments of a call or the key of an item. */
function isAccess(before: string, token: string): boolean {
  return nestingOf(token) === 1 && (isWord(before) || before === ')' || before === ']');
}

/** By how much the token changes the number of open brackets. */
function nestingOf(token: string): number {
  if (token === '(' || token === '[') return 1;
  return token === ')' || token === ']' ? -1 : 0;
}

/** Whether what follows a word makes it a part of something else, as the arguments of a call. */
function isPrefix(after: string): boolean {
  return after === '.' || after === '(';
}

function isAssignment(token: string): boolean {
  return token.endsWith('=') && token !== ':=' && !COMPARISONS.has(token);
}

function isWord(token: string): boolean {
  return WORD.test(token);
}
