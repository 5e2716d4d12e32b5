// Lists the regular expressions of the product, and finds out by doubling its input whether one takes more than linear
// time.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';

const rootDir = fileURLToPath(new URL('../..', import.meta.url));
const LENGTH = 8_192;
/** Linear patterns need a fiftieth of it for such a text, even on slow machines. */
const LIMIT_US = 15_000;
/** What takes so long may be quadratic with few places at which it begins, which a longer text tells. */
const SUSPECT_US = 250;
const LONG_LENGTH = 8 * LENGTH;
const SHORT_LENGTHS = [24, 512];
const RUNS = 4;
/** What takes so many times its limit is not run again: no pause of the process lasts as long. */
const FAR_BEYOND = 10;
/** A short text never needs it, whatever else the process does, but where the cost is exponential. */
const SHORT_LIMIT_US = 60_000;
const MAX_PIECES = 10;

export interface Pattern {
  /** File and line. */
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** The literals of `core/` and `plugins/`, the patterns of templates, and the files that make patterns of texts. */
export async function findPatterns(): Promise<{ patterns: Pattern[]; makers: ReadonlySet<string> }> {
  const patterns: Pattern[] = [];
  const makers = new Set<string>();
  for (const [file, text] of await readSources()) {
    const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
    new Visitor({
      Literal(node) {
        if (!('regex' in node) || node.regex === null) return;
        const { pattern: source, flags } = node.regex;
        patterns.push({ place: `${file}:${lineAt(node.start)}`, source, flags });
      },
      NewExpression({ callee }) {
        if (callee.type === 'Identifier' && callee.name === 'RegExp') makers.add(file);
      },
    }).visit(parseSync(file, text).program);
  }
  return { patterns: [...patterns, ...(await findTemplatePatterns())], makers };
}

async function readSources(): Promise<[file: string, text: string][]> {
  const files = ['core', 'plugins'].map(async directory => {
    const names = await readdir(path.join(rootDir, directory), { recursive: true });
    return names.filter(name => name.endsWith('.ts')).map(name => `${directory}/${name}`);
  });
  const sorted = (await Promise.all(files)).flat().sort();
  return Promise.all(
    sorted.map(async file => [file, await readFile(path.join(rootDir, file), 'utf8')] as const),
  ) as Promise<[string, string][]>;
}

async function findTemplatePatterns(): Promise<Pattern[]> {
  const patterns: Pattern[] = [];
  for (const name of await readdir(path.join(rootDir, 'templates'), { recursive: true })) {
    if (!name.endsWith('.json')) continue;
    JSON.parse(await readFile(path.join(rootDir, 'templates', name), 'utf8'), (key, value: unknown) => {
      if (key === 'pattern' && typeof value === 'string')
        patterns.push({ place: `templates/${name}`, source: value, flags: '' });
      return value;
    });
  }
  return patterns;
}

/** The repeated text, if there is one, for which the pattern takes more than linear time. */
export function findSlowInput({ source, flags }: Pick<Pattern, 'source' | 'flags'>): string | undefined {
  const pattern = new RegExp(source, flags.includes('g') || flags.includes('y') ? flags : `${flags}g`);
  const textOf = ({ start, pump, end }: Input, length: number): string =>
    start + pump.repeat(Math.ceil(length / pump.length)) + end;
  const isSlow = (input: Input): boolean => {
    // Short texts come first, because a pattern of exponential cost never ends with long ones.
    if (SHORT_LENGTHS.some(length => leastCostUs(pattern, textOf(input, length), SHORT_LIMIT_US) > SHORT_LIMIT_US))
      return true;
    const grows = (length: number): boolean => {
      const least = leastCostUs(pattern, textOf(input, length), LIMIT_US);
      return least > LIMIT_US && least > 3 * costUs(pattern, textOf(input, length / 2));
    };
    const cost = costUs(pattern, textOf(input, LENGTH));
    return cost > LIMIT_US ? grows(LENGTH) : cost > SUSPECT_US && grows(LONG_LENGTH);
  };
  return inputsFor(source).find(isSlow)?.pump;
}

/**
 * The least cost of a few runs, or of the first one that is within the limit or far beyond it: threads of the process
 * may work meanwhile, on its garbage for example.
 */
function leastCostUs(pattern: RegExp, text: string, limitUs: number): number {
  let least = costUs(pattern, text);
  for (let run = 1; run < RUNS && least > limitUs && least < FAR_BEYOND * limitUs; run += 1)
    least = Math.min(least, costUs(pattern, text));
  return least;
}

function costUs(pattern: RegExp, text: string): number {
  const before = process.cpuUsage();
  text.replace(pattern, '');
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

interface Input {
  readonly start: string;
  readonly pump: string;
  readonly end: string;
}

/** Repetitions of what the pattern speaks of, alone and in pairs, that end with what it does not expect. */
function inputsFor(source: string): Input[] {
  const pieces = piecesOf(source);
  const pumps = new Set([...pieces, ...pieces.flatMap(one => pieces.map(other => one + other)), pieces.join('')]);
  const starts = ['', pieces[0] ?? ''];
  return [...pumps].flatMap(pump => starts.flatMap(start => ['', '\u0001', '\n!'].map(end => ({ start, pump, end }))));
}

/** The literal texts of a pattern, and a character of each of its classes. */
function piecesOf(source: string): string[] {
  const classes = source.match(/\[(?:[^\]\\]|\\.)*\]|\\[dswDSWpP](?:\{[^}]*\})?/g) ?? [];
  const texts = source
    .replaceAll(
      /\(\?<?[:=!]|\(\?<\w+>|\[(?:[^\]\\]|\\.)*\]|\\[dswDSWbBpP](?:\{[^}]*\})?|\{\d+,?\d*\}|[()^$|?*+.]/g,
      '\n',
    )
    .replaceAll('\\n', ' ')
    .replaceAll(/\\(.)/g, '$1')
    .split('\n');
  const members = classes.flatMap(member => {
    const accepted = new RegExp(member, /\\(?:p|u\{)/i.test(member) ? 'u' : '');
    return [...'a0 -_."\\:'].filter(character => accepted.test(character)).slice(0, 2);
  });
  return [...new Set([...members, ...texts, 'a', ' '])].filter(piece => piece !== '').slice(0, MAX_PIECES);
}
