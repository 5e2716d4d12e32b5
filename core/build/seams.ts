// Reads the points, hooks, events and services from the contract's interfaces and from what plugins declare on them.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { durationText } from '../host/duration-text.ts';

const KINDS = { Contributions: 'point', Hooks: 'hook', Events: 'event', Services: 'service' } as const;

/** The default deadlines in contributions.ts, hooks.ts and services.ts of the host. */
const DEFAULT_DEADLINE_MS = { point: 10_000, hook: 10_000, service: 60_000 };

export interface Seam {
  readonly kind: (typeof KINDS)[keyof typeof KINDS];
  readonly name: string;
  /** The plugin that declares it, or `core`. */
  readonly owner: string;
  /** Its type, on one line. */
  readonly type: string;
  /** Its doc comment, on one line. */
  readonly description: string;
  /** How the taps of a hook run; empty for other kinds. */
  readonly order: string;
  /**
   * How long the result of handed-over code is awaited; null where nothing awaits it, or the code is the host's own.
   */
  readonly deadlineMs: number | null;
  /** Plugins that contribute to it, tap it, hear it, or use it. */
  readonly users: readonly string[];
}

interface Source {
  /** The plugin whose file it is, or `core`. */
  readonly owner: string;
  readonly text: string;
}

/** All seams, sorted by kind and name. */
export async function readSeams(rootDir: string): Promise<Seam[]> {
  const sources = [
    ...(await sourcesOf(path.join(rootDir, 'core', 'contract'), () => 'core')),
    ...(await sourcesOf(path.join(rootDir, 'core', 'host'), () => 'core')),
    ...(await sourcesOf(path.join(rootDir, 'plugins'), file => file.split(path.sep)[0] ?? '')),
  ];
  const seams = sources.flatMap(({ owner, text }) =>
    declarationsOf(text).map(declared => ({
      ...declared,
      description: declared.description || descriptionOf(declared.type, sources),
      owner,
      order: declared.kind === 'hook' ? orderOf(declared.type) : '',
      deadlineMs: deadlineOf(declared, sources),
      users: usersOf(declared.name, declared.kind, sources).filter(user => user !== owner),
    })),
  );
  const kinds: readonly string[] = Object.values(KINDS);
  return seams.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || (a.name < b.name ? -1 : 1));
}

async function sourcesOf(directory: string, ownerOf: (file: string) => string): Promise<Source[]> {
  const files = (await readdir(directory, { recursive: true })).filter(file => file.endsWith('.ts')).sort();
  const sources: Source[] = [];
  for (const file of files)
    sources.push({ owner: ownerOf(file), text: await readFile(path.join(directory, file), 'utf8') });
  return sources;
}

/** The members of the interfaces that plugins extend, in whichever file they are declared. */
function declarationsOf(text: string): Pick<Seam, 'kind' | 'name' | 'type' | 'description'>[] {
  return [
    ...text.matchAll(/^( *)(?:export )?interface (Contributions|Hooks|Events|Services) \{\n([\s\S]*?)^\1\}/gm),
  ].flatMap(([, indent = '', name, body = '']) => {
    const member = new RegExp(
      `((?:^${indent}  (?:/\\*\\*| \\*).*\\n)*)^${indent}  (?:readonly )?'?([a-z][\\w.-]*)'?: ([\\s\\S]*?);$(?=\\n${indent}  (?:/|'|[a-z]|readonly)|\\n*(?![^]))`,
      'gm',
    );
    return [...body.matchAll(member)].map(([, comment = '', key = '', type = '']) => ({
      kind: KINDS[name as keyof typeof KINDS],
      name: key,
      type: oneLine(type.replaceAll(/\/\*[\s\S]*?\*\//g, '')),
      description: oneLine(comment.replaceAll(/^\s*(?:\/\*\*|\*\/|\*)|\*\/\s*$/gm, '')),
    }));
  });
}

/** The doc comment of a named type; used where the member itself has none. */
function descriptionOf(type: string, sources: readonly Source[]): string {
  if (!/^\w+$/.test(type)) return '';
  const declaration = new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\nexport (?:interface|type|class) ${type}\\b`);
  for (const { text } of sources) {
    const comment = declaration.exec(text)?.[1];
    if (comment !== undefined) return oneLine(comment.replaceAll(/^\s*\*/gm, ''));
  }
  return '';
}

function orderOf(type: string): string {
  if (type.includes('Waterfall')) return 'one after the other, each gets what the one before gave';
  return type.includes('Series') ? 'one after the other' : 'at once';
}

/** The declared deadline: a number or the name of a constant, in the options or in the constant that holds them. */
function deadlineOf({ kind, name }: Pick<Seam, 'kind' | 'name'>, sources: readonly Source[]): number | null {
  if (kind === 'event') return null;
  const calls = { point: 'point|declare', hook: 'hook|declare', service: 'provide' }[kind];
  const call = new RegExp(`\\b(?:${calls})\\(\\s*'${name.replaceAll('.', '\\.')}',([\\s\\S]*?)\\)[;,)]`);
  const place = sources.find(({ text }) => call.test(text));
  // The host's own services run as the host's.
  if (place === undefined) return kind === 'service' ? null : DEFAULT_DEADLINE_MS[kind];
  const texts = sources.filter(({ owner }) => owner === place.owner).map(({ text }) => text);
  const [, given = ''] = call.exec(place.text) ?? [];
  const [, shared] = /^\s*(\w+)$/.exec(given) ?? [];
  const held = new RegExp(`const ${shared}\\b[^=]*= \\{([\\s\\S]*?)^\\};`, 'm');
  const [, value] = /\bdeadlineMs: (\d\w*|[A-Z]\w*)/.exec(firstMatch(texts, held) ?? given) ?? [];
  if (value === undefined) return DEFAULT_DEADLINE_MS[kind];
  const digits = /^\d/.test(value) ? value : firstMatch(texts, new RegExp(`const ${value} = ([\\d_]+);`));
  return Number(digits?.replaceAll('_', ''));
}

function firstMatch(texts: readonly string[], pattern: RegExp): string | undefined {
  return texts.map(text => pattern.exec(text)?.[1]).find(found => found !== undefined);
}

function usersOf(name: string, kind: Seam['kind'], sources: readonly Source[]): string[] {
  const calls = { point: 'contribute', hook: 'tap', event: 'on', service: 'use|find' }[kind];
  const call = new RegExp(`\\.(?:${calls})(?:<[^(]*>)?\\(\\s*(?:\\{[^}]*type: )?'${name.replaceAll('.', '\\.')}'`);
  return [...new Set(sources.filter(({ text }) => call.test(text)).map(({ owner }) => owner))].sort();
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** One Markdown table for each kind. */
export function tableOf(seams: readonly Seam[]): string {
  const titles = { point: 'Points', hook: 'Hooks', event: 'Events', service: 'Services' };
  return Object.entries(titles)
    .map(([kind, title]) => {
      const rows = seams.filter(seam => seam.kind === kind);
      if (rows.length === 0) return '';
      const usedBy = { point: 'Contributed by', hook: 'Tapped by', event: 'Heard by', service: 'Used by' }[kind];
      const cells = rows.map(seam => [
        `\`${seam.name}\``,
        seam.owner,
        `\`${seam.type.replaceAll('|', '\\|')}\``,
        [seam.description, seam.order === '' ? '' : `Taps run ${seam.order}.`].filter(Boolean).join(' '),
        ...(kind === 'event' ? [] : [seam.deadlineMs === null ? 'none' : durationText(seam.deadlineMs)]),
        seam.users.join(', '),
      ]);
      const head = ['Name', 'Owner', 'Type', 'What and when', ...(kind === 'event' ? [] : ['Deadline']), usedBy];
      const lines = [head, head.map(() => '---'), ...cells].map(row => `| ${row.join(' | ')} |`);
      return `## ${title}\n\n${lines.join('\n')}\n`;
    })
    .filter(Boolean)
    .join('\n');
}
