// Assembles WebAssembly from its text form, as far as the product's own code uses it: folded instructions on i32 and i64,
// one memory, globals, and functions with names.

type Node = string | readonly Node[];

/** By name: the opcode, and for accesses to the memory the power of two by which they are aligned. */
const OPCODES: Readonly<Record<string, readonly number[]>> = {
  unreachable: [0x00],
  return: [0x0f],
  select: [0x1b],
  'i32.load': [0x28, 2, 0],
  'i32.load8_u': [0x2d, 0, 0],
  'i32.store': [0x36, 2, 0],
  'i32.store8': [0x3a, 0, 0],
  'i64.load': [0x29, 3, 0],
  'i64.store': [0x37, 3, 0],
  'i32.eqz': [0x45],
  'i32.eq': [0x46],
  'i32.ne': [0x47],
  'i32.lt_u': [0x49],
  'i32.gt_u': [0x4b],
  'i32.ge_u': [0x4f],
  'i32.add': [0x6a],
  'i32.sub': [0x6b],
  'i32.and': [0x71],
  'i32.or': [0x72],
  'i32.shl': [0x74],
  'i32.shr_u': [0x76],
};
/** Those whose first operand is a name. */
const OF_LOCALS: Readonly<Record<string, number>> = { 'local.get': 0x20, 'local.set': 0x21, 'local.tee': 0x22 };
const OF_GLOBALS: Readonly<Record<string, number>> = { 'global.get': 0x23, 'global.set': 0x24 };
const BLOCKS: Readonly<Record<string, number>> = { block: 0x02, loop: 0x03 };
const BRANCHES: Readonly<Record<string, number>> = { br: 0x0c, br_if: 0x0d };
const TYPES: Readonly<Record<string, number>> = { i32: 0x7f };
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const SECTION = { types: 1, functions: 3, memory: 5, globals: 6, exports: 7, code: 10 };
const KIND = { function: 0, memory: 2 };
const NO_RESULT = 0x40;
const IF = 0x04;
const ELSE = 0x05;
const CALL = 0x10;
const CONST = 0x41;
const FUNCTION_TYPE = 0x60;
const END = 0x0b;

/** The module as bytes. Throws an Error that names what is not known. */
export function assemble(text: string): Uint8Array {
  const [module] = nodesOf(text);
  const parts = listOf(module).slice(1).map(listOf);
  const funcs = parts.filter(([kind]) => kind === 'func').map(funcOf);
  const globals = parts.filter(([kind]) => kind === 'global');
  const memories = parts.filter(([kind]) => kind === 'memory');
  const names = { funcs: funcs.map(({ name }) => name), globals: globals.map(([, name]) => wordOf(name)) };
  const types = funcs.map(({ params, result }) => [
    FUNCTION_TYPE,
    ...vector(params.map(() => [TYPES.i32 ?? 0])),
    ...vector(result ? [[TYPES.i32 ?? 0]] : []),
  ]);
  const exported = [
    ...memories.map(memory => [...nameOf(exportIn(memory) ?? ''), KIND.memory, 0]),
    ...funcs.flatMap(({ exportName }, index) =>
      exportName === undefined ? [] : [[...nameOf(exportName), KIND.function, ...unsigned(index)]],
    ),
  ];
  return Uint8Array.from([
    ...HEADER,
    ...section(SECTION.types, types),
    ...section(
      SECTION.functions,
      funcs.map((_, index) => unsigned(index)),
    ),
    ...section(
      SECTION.memory,
      memories.map(memory => [0, ...unsigned(Number(memory.at(-1)))]),
    ),
    ...section(
      SECTION.globals,
      globals.map(global => [TYPES.i32 ?? 0, 1, ...instruction(global[3] ?? '', new Scope(names, [])), END]),
    ),
    ...section(SECTION.exports, exported),
    ...section(
      SECTION.code,
      funcs.map(func => codeOf(func, names)),
    ),
  ]);
}

interface Func {
  readonly name: string;
  readonly exportName: string | undefined;
  readonly params: readonly string[];
  readonly locals: readonly string[];
  readonly result: boolean;
  readonly body: readonly Node[];
}

interface Names {
  readonly funcs: readonly string[];
  readonly globals: readonly string[];
}

function funcOf(parts: readonly Node[]): Func {
  const heads = ['export', 'param', 'result', 'local'];
  const declared = (kind: string): string[] =>
    parts.flatMap(part => (part[0] === kind && typeof part !== 'string' ? [wordOf(part[1])] : []));
  return {
    name: typeof parts[1] === 'string' ? parts[1] : '',
    exportName: exportIn(parts),
    params: declared('param'),
    locals: declared('local'),
    result: declared('result').length > 0,
    body: parts.slice(1).filter(part => typeof part !== 'string' && !heads.includes(String(part[0]))),
  };
}

function codeOf({ params, locals, body }: Func, names: Names): number[] {
  const scope = new Scope(names, [...params, ...locals]);
  const declared = locals.length === 0 ? [] : [[...unsigned(locals.length), TYPES.i32 ?? 0]];
  const code = [...vector(declared), ...body.flatMap(node => instruction(node, scope)), END];
  return [...unsigned(code.length), ...code];
}

/** What names stand for at one place of a function. */
class Scope {
  readonly #names: Names;
  readonly #locals: readonly string[];
  /** Of the blocks around, the innermost first. */
  readonly #labels: readonly string[];

  constructor(names: Names, locals: readonly string[], labels: readonly string[] = []) {
    this.#names = names;
    this.#locals = locals;
    this.#labels = labels;
  }

  within(label: string): Scope {
    return new Scope(this.#names, this.#locals, [label, ...this.#labels]);
  }

  local = (name: string): number[] => placeOf(name, this.#locals);
  global = (name: string): number[] => placeOf(name, this.#names.globals);
  func = (name: string): number[] => placeOf(name, this.#names.funcs);
  label = (name: string): number[] => placeOf(name, this.#labels);
}

function placeOf(name: string, among: readonly string[]): number[] {
  const place = among.indexOf(name);
  if (place < 0) throw new Error(`nothing has the name ${name}`);
  return unsigned(place);
}

function instruction(node: Node, scope: Scope): number[] {
  const [head, ...rest] = listOf(node);
  const name = wordOf(head);
  const [first = '', ...others] = rest;
  const all = (nodes: readonly Node[], inner = scope): number[] => nodes.flatMap(each => instruction(each, inner));
  const named = (opcode: number, place: (name: string) => number[]): number[] => [
    ...all(others),
    opcode,
    ...place(wordOf(first)),
  ];
  if (name === 'i32.const') return [CONST, ...signed(Number(first))];
  if (name === 'call') return named(CALL, scope.func);
  if (name === 'if') return conditional(rest, scope);
  const { [name]: ofLocals } = OF_LOCALS;
  if (ofLocals !== undefined) return named(ofLocals, scope.local);
  const { [name]: ofGlobals } = OF_GLOBALS;
  if (ofGlobals !== undefined) return named(ofGlobals, scope.global);
  const { [name]: branch } = BRANCHES;
  if (branch !== undefined) return named(branch, scope.label);
  const { [name]: block } = BLOCKS;
  if (block !== undefined) return [block, NO_RESULT, ...all(others, scope.within(wordOf(first))), END];
  const { [name]: opcode } = OPCODES;
  if (opcode === undefined) throw new Error(`the instruction ${name} is not known`);
  return [...all(rest), ...opcode];
}

function conditional([condition = '', ...branches]: readonly Node[], scope: Scope): number[] {
  const inner = scope.within('');
  const [yes = [], no = []] = branches.map(branch => listOf(branch).slice(1));
  const code = (nodes: readonly Node[]): number[] => nodes.flatMap(each => instruction(each, inner));
  const otherwise = no.length === 0 ? [] : [ELSE, ...code(no)];
  return [...instruction(condition, scope), IF, NO_RESULT, ...code(yes), ...otherwise, END];
}

function exportIn(parts: readonly Node[]): string | undefined {
  const found = parts.find(part => part[0] === 'export');
  return found === undefined ? undefined : wordOf(found[1]).slice(1, -1);
}

function section(id: number, entries: readonly (readonly number[])[]): number[] {
  if (entries.length === 0) return [];
  const content = vector(entries);
  return [id, ...unsigned(content.length), ...content];
}

function vector(entries: readonly (readonly number[])[]): number[] {
  return [...unsigned(entries.length), ...entries.flat()];
}

function nameOf(text: string): number[] {
  const bytes = [...Buffer.from(text)];
  return [...unsigned(bytes.length), ...bytes];
}

function unsigned(value: number): number[] {
  const low = value & 0x7f;
  return value === low ? [low] : [low | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const isLast = rest === ((low & 0x40) === 0 ? 0 : -1);
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
}

/** What stands between parentheses is a list, comments are passed over. */
function nodesOf(text: string): Node[] {
  const open: Node[][] = [[]];
  for (const [word] of text.replaceAll(/;;.*/g, '').matchAll(/[()]|"[^"]*"|[^\s()"]+/g)) {
    if (word === '(') open.push([]);
    else if (word === ')') {
      const list = open.pop() ?? [];
      open.at(-1)?.push(list);
    } else open.at(-1)?.push(word);
  }
  if (open.length !== 1) throw new Error('the parentheses do not match');
  return open[0] ?? [];
}

function listOf(node: Node | undefined): readonly Node[] {
  if (node === undefined || typeof node === 'string') throw new Error(`${node} stands where a list belongs`);
  return node;
}

function wordOf(node: Node | undefined): string {
  if (typeof node !== 'string') throw new Error('a list stands where a word belongs');
  return node;
}
