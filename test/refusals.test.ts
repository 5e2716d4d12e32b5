// Every refusal with 403 or 409 in the sources names the reason and, behind a semicolon, the step or setting that
// helps.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Expression, parseSync, Visitor } from 'oxc-parser';
import t from 'tap';

const rootDir = fileURLToPath(new URL('..', import.meta.url));
const REFUSERS = new Set(['Problem', 'refuse', 'refuseSocket']);
const STATUSES = new Set([403, 409]);

type Argument = Expression | { readonly type: 'SpreadElement' };

interface Refusal {
  readonly place: string;
  /** What stands literally in its text; undefined when another function makes it. */
  readonly text: string | undefined;
}

/** The literal parts of a text; names in capitals stand for constants of any file of the sources. */
function literalOf(node: Argument | undefined, constants: ReadonlyMap<string, string>): string | undefined {
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' ? node.value : undefined;
    case 'TemplateLiteral':
      return node.quasis
        .map(({ value }, index) => value.raw + (literalOf(node.expressions[index], constants) ?? ''))
        .join('');
    case 'BinaryExpression':
      return [node.left, node.right].map(side => literalOf(side as Expression, constants) ?? '').join('');
    case 'Identifier':
      return constants.get(node.name);
    default:
      return undefined;
  }
}

async function readSources(): Promise<(readonly [string, string])[]> {
  const names = await Promise.all(
    ['core', 'plugins'].map(async directory =>
      (await readdir(path.join(rootDir, directory), { recursive: true })).map(name => path.join(directory, name)),
    ),
  );
  const sources = names.flat().filter(name => name.endsWith('.ts'));
  return Promise.all(sources.map(async file => [file, await readFile(path.join(rootDir, file), 'utf8')] as const));
}

async function findRefusals(): Promise<Refusal[]> {
  const programs = (await readSources()).map(([file, text]) => ({
    file,
    text,
    program: parseSync(file, text).program,
  }));
  const constants = new Map<string, string>();
  for (const { program } of programs) {
    new Visitor({
      VariableDeclarator({ id, init }) {
        const text = id.type === 'Identifier' && init !== null ? literalOf(init, constants) : undefined;
        if (id.type === 'Identifier' && /^[A-Z_]+$/.test(id.name) && text !== undefined) constants.set(id.name, text);
      },
    }).visit(program);
  }
  return programs.flatMap(({ file, text, program }) => {
    const refusals: Refusal[] = [];
    const take = (callee: Expression, args: readonly Argument[], start: number): void => {
      const at = callee.type === 'Identifier' && REFUSERS.has(callee.name) ? args.findIndex(isStatus) : -1;
      if (at < 0) return;
      const line = text.slice(0, start).split('\n').length;
      refusals.push({ place: `${file}:${line}`, text: literalOf(args[at + 1], constants) });
    };
    new Visitor({
      NewExpression: node => take(node.callee, node.arguments, node.start),
      CallExpression: node => take(node.callee, node.arguments, node.start),
    }).visit(program);
    return refusals;
  });
}

function isStatus(node: Argument): boolean {
  return node.type === 'Literal' && STATUSES.has(Number(node.value));
}

t.test('refusals say what to do', async t => {
  const refusals = await findRefusals();
  t.ok(refusals.length > 25, 'they are found');
  for (const { place, text } of refusals) {
    if (text !== undefined) t.match(text, /; \w/, `${place}: ${text}`);
  }
  t.ok(refusals.filter(({ text }) => text === undefined).length <= 3, 'few get their text from a function');
});
