// Where the version of one process can be found: the sources of its template with the values of its block.
import path from 'node:path';
import type { NamedBlock } from '#core';
import type { ServiceTemplate } from '../services/contract.ts';

type Values = Readonly<Record<string, unknown>>;
type Fact = NonNullable<ServiceTemplate['version']>;
type SourceFact = Fact['from'][number];

export type VersionSource =
  | { readonly kind: 'file'; readonly file: string; readonly member?: string; readonly assignments?: readonly string[] }
  | { readonly kind: 'assembly'; readonly file: string }
  | { readonly kind: 'command'; readonly command: readonly string[] }
  | { readonly kind: 'answer'; readonly url: string; readonly member: string };

export interface VersionTarget {
  readonly processName: string;
  readonly sources: readonly VersionSource[];
  /** Whether numbers are shown with `v` before them. */
  readonly hasPrefix: boolean;
  /** Files that show by a change that the version may have changed. */
  readonly files: readonly string[];
}

/**
 * undefined when the template has no version. Sources whose options are not set are left out. `given` has the values of
 * placeholders in the template's own command.
 */
export function targetOf(
  named: NamedBlock,
  template: ServiceTemplate | undefined,
  given: () => Values,
): VersionTarget | undefined {
  const fact = template?.version;
  if (template === undefined || fact === undefined) return undefined;
  const fill = filler(named, template, given);
  const sources = fact.from.flatMap(source => sourceOf(source, named, fill) ?? []);
  return {
    processName: named.processName,
    sources,
    hasPrefix: fact.prefix === 'v',
    files: sources.map(fileOf).filter(file => file !== ''),
  };
}

/** The file that the source reads or runs; '' when it has none or its path is not known. */
export function fileOf(source: VersionSource): string {
  if (source.kind === 'answer') return '';
  if (source.kind !== 'command') return source.file;
  const [program = ''] = source.command;
  return path.isAbsolute(program) ? program : '';
}

type Fill = (text: string) => string | undefined;

function sourceOf(fact: SourceFact, { block }: NamedBlock, fill: Fill): VersionSource | undefined {
  if ('command' in fact) {
    const words = fact.command.map(fill);
    return words.includes(undefined) ? undefined : { kind: 'command', command: words as string[] };
  }
  if ('path' in fact) {
    const port = block[fact.portKey ?? 'port'];
    if (!Number.isInteger(port)) return undefined;
    return { kind: 'answer', url: `http://127.0.0.1:${port}${fact.path}`, member: fact.member };
  }
  const file = fill('assembly' in fact ? fact.assembly : fact.file);
  if (file === undefined || !path.isAbsolute(file) || file.includes('\0')) return undefined;
  if ('assembly' in fact) return { kind: 'assembly', file };
  const { member, assignments } = fact;
  return { kind: 'file', file, ...(member && { member }), ...(assignments && { assignments }) };
}

/** Replaces `{option}` and `{program_dir}`; undefined when one is not set. `${name}` is left to the command itself. */
function filler({ block }: NamedBlock, template: ServiceTemplate, given: () => Values): Fill {
  const [word] = [block.command, template.launch?.command].flatMap(firstWord);
  const program = word?.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(given()[name] ?? whole));
  const programDir = program === undefined || !path.isAbsolute(program) ? undefined : path.dirname(program);
  return text => {
    let isWhole = true;
    const filled = text.replaceAll(/(?<!\$)\{(\w+)\}/g, (_whole, name: string) => {
      const value = name === 'program_dir' ? programDir : Object.hasOwn(block, name) ? block[name] : undefined;
      if (typeof value === 'string' && value !== '') return value;
      isWhole = false;
      return '';
    });
    return isWhole ? filled : undefined;
  };
}

function firstWord(command: unknown): string[] {
  const word = Array.isArray(command) ? command[0] : typeof command === 'string' ? command.split(' ', 1)[0] : '';
  return typeof word === 'string' && word !== '' ? [word] : [];
}
