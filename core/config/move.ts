// Moves a member in the text of a configuration file, so that its comments and its spelling go with it.
import { findNodeAtLocation, type Node as JsonNode, parseTree } from 'jsonc-parser';
import { type Document, isMap, type Node, type Pair, type YAMLMap } from 'yaml';
import { BlockMembers } from '../kit/block-members.ts';
import { BracketMembers } from '../kit/bracket-members.ts';
import { applySplices } from '../kit/text-splice.ts';
import { parseYaml } from '../kit/yaml-document.ts';
import { readKey } from '../kit/yaml-places.ts';
import type { ConfigFormat } from './load.ts';

type MemberPath = readonly string[];

/** Where a member stands in a text. */
interface Member {
  readonly keyStart: number;
  readonly keyEnd: number;
  /** The text of its value, with the comments in it. */
  readonly start: number;
  readonly end: number;
  /** Its comments on the lines above it, as they stand before its key, and the one behind it on its line. */
  readonly above: string;
  readonly behind: string;
}

/**
 * The text in which the member at `from` has the name of `to`; undefined where it is missing or stands twice, or where
 * there is something at `to` already.
 */
export function renameInText(text: string, format: ConfigFormat, from: MemberPath, to: MemberPath): string | undefined {
  const membersAt = membersOf(text, format);
  const [member, ...twins] = membersAt(from);
  if (member === undefined || twins.length + membersAt(to).length > 0) return undefined;
  const name = to.at(-1) ?? '';
  const key = format === 'json' ? JSON.stringify(name) : yamlKey(name);
  return applySplices(text, [{ startOffset: member.keyStart, endOffset: member.keyEnd, text: key }]);
}

/**
 * `after`, in which the value at `to` gets the text that it had in `before` at `from`. The caller has to check that the
 * result reads the same: lines do not fit into brackets, for example.
 */
export function withFormerText(
  before: string,
  after: string,
  format: ConfigFormat,
  from: MemberPath,
  to: MemberPath,
): string {
  const [source, ...twins] = membersOf(before, format)(from);
  const [target] = membersOf(after, format)(to);
  if (source === undefined || target === undefined || twins.length > 0) return after;
  const written = before.slice(source.start, source.end);
  // The move might put an alias before its anchor.
  if (format === 'yaml' && /[&*]/.test(written)) return after;
  const deeper = format === 'yaml' ? columnOf(after, target.keyStart) - columnOf(before, source.keyStart) : 0;
  // The dot stands for the key, which is indented with the comments above it.
  const above = indented(`${source.above}.`, deeper).slice(0, -1);
  const [value] = withoutLineBreak(indented(written, deeper));
  const [, lineBreak] = withoutLineBreak(after.slice(target.start, target.end));
  // A block comment stands before the comma. A comment to the end of its line is kept only where nothing follows there.
  const endsItself = format === 'json' && !source.behind.includes('//');
  const comma = !endsItself && after[target.end] === ',' ? 1 : 0;
  const rest = /.*/.exec(after.slice(target.end + comma))?.[0] ?? '';
  const behind = endsItself || rest.trim() === '' ? source.behind : '';
  return applySplices(after, [
    { startOffset: target.keyStart, endOffset: target.keyStart, text: above },
    { startOffset: target.start, endOffset: target.end, text: lineBreak === '' ? value : value + behind + lineBreak },
    { startOffset: target.end + comma, endOffset: target.end + comma, text: lineBreak === '' ? behind : '' },
  ]);
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

/** The text with its lines below the first indented by so many columns more, or fewer where the number is negative. */
function indented(text: string, columns: number): string {
  if (columns === 0) return text;
  return text.replaceAll(/\n( *)(?=\S)/g, (_whole, indent: string) => {
    return `\n${' '.repeat(Math.max(0, indent.length + columns))}`;
  });
}

/** The text and its last line break, which only a value on lines of its own has. */
function withoutLineBreak(text: string): [string, string] {
  const lineBreak = /\r?\n$/.exec(text)?.[0] ?? '';
  return [text.slice(0, text.length - lineBreak.length), lineBreak];
}

function yamlKey(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name);
}

function membersOf(text: string, format: ConfigFormat): (path: MemberPath) => Member[] {
  if (format === 'json') {
    const mark = text.startsWith('\uFEFF') ? 1 : 0;
    const root = parseTree(text.slice(mark), [], { allowTrailingComma: true });
    return path => (root === undefined ? [] : jsonMembers(text, root, path, mark));
  }
  const { document } = parseYaml(text, { merge: true });
  return path => yamlMembers(text, document, path);
}

function jsonMembers(text: string, root: JsonNode, path: MemberPath, mark: number): Member[] {
  const parent = path.length === 1 ? root : findNodeAtLocation(root, path.slice(0, -1));
  if (parent?.type !== 'object') return [];
  const children = parent.children ?? [];
  const ranges = children.map(({ offset, length }) => ({
    startOffset: offset + mark,
    endOffset: offset + length + mark,
  }));
  const inner = { startOffset: parent.offset + mark + 1, endOffset: parent.offset + parent.length + mark - 1 };
  const members = new BracketMembers(text, inner, ranges, '/');
  return children.flatMap(({ children: [key, value] = [] }, index) => {
    if (key === undefined || value === undefined || key.value !== path.at(-1)) return [];
    const { text: above, behind } = members.asAddition(index, '');
    return [
      {
        keyStart: key.offset + mark,
        keyEnd: key.offset + key.length + mark,
        start: value.offset + mark,
        end: value.offset + value.length + mark,
        above,
        behind,
      },
    ];
  });
}

function yamlMembers(text: string, document: Document, path: MemberPath): Member[] {
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return [];
  const { items, flow } = parent as YAMLMap<Node, Node | null>;
  const ranges = items.map(({ key, value }) => ({
    startOffset: key.range?.[0] ?? 0,
    endOffset: value?.range?.[1] ?? key.range?.[1] ?? 0,
  }));
  const members = flow === true ? undefined : new BlockMembers(text, ranges);
  return items.flatMap((pair: Pair, index) => {
    const [keyStart, keyEnd] = (pair.key as Node).range ?? [];
    const end = (pair.value as Node | null)?.range?.[1];
    if (readKey(pair) !== path.at(-1) || keyStart === undefined || keyEnd === undefined || end === undefined) return [];
    const start = text.indexOf(':', keyEnd) + 1;
    const first = members?.start(index) ?? keyStart;
    const above = text.slice(first, keyStart).trimStart();
    // A value on lines of its own ends where the next line begins.
    const behind = text[end - 1] === '\n' ? '' : (/^[ \t]+#[^\r\n]*/.exec(text.slice(end))?.[0] ?? '');
    return [{ keyStart, keyEnd, start, end, above: above.startsWith('#') ? above : '', behind }];
  });
}
