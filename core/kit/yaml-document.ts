// Parses YAML that others wrote: within the limits of nesting, and in linear time.
import {
  type Document,
  isScalar,
  LineCounter,
  type ParsedNode,
  parseDocument,
  type Tags,
  visit,
  type YAMLError,
} from 'yaml';
import { Problem } from '../contract/problem.ts';
import { errorText } from './error-text.ts';
import { plainData } from './plain-data.ts';
import { refuseCostlyYaml } from './yaml-nesting.ts';

/** How many values one alias may stand for in all, through other aliases too. */
const MAX_ALIAS_COUNT = 1_000;

export interface YamlDocument {
  readonly document: Document.Parsed<ParsedNode>;
  /** The first thing that is not valid YAML; lines and columns are counted from 1. */
  readonly error:
    | { readonly code: string; readonly message: string; readonly line: number; readonly column: number }
    | undefined;
}

/** Tags of values that JSON has too. */
const JSON_TAGS: ReadonlySet<string> = new Set(
  ['map', 'seq', 'str', 'null', 'bool', 'int', 'float'].map(name => `tag:yaml.org,2002:${name}`),
);

/**
 * The parser's own search for duplicate keys is off, because it compares each key with all before it. Other tags that
 * it knows, such as `!!set` and `!!binary`, are not resolved; the schema of a document with `%YAML 1.1` would resolve
 * them, find timestamps in texts, and always merge.
 */
const OPTIONS = {
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'error',
  resolveKnownTags: false,
  customTags: (tags: Tags): Tags => tags.filter(tag => typeof tag === 'object' && JSON_TAGS.has(tag.tag)),
} as const;

/** The same text at the same offsets: a carriage return alone ends a line of YAML, which the parser does not know. */
export function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r(?!\n)/g, '\n') : text;
}

/** `merge` is whether the key `<<` merges mappings. Throws a Problem 400 when the text nests too deep. */
export function parseYaml(given: string, { merge = false } = {}): YamlDocument {
  const text = withLineFeeds(given);
  refuseCostlyYaml(text);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, ...OPTIONS, merge });
  const [invalid] = document.errors;
  const found =
    invalid === undefined
      ? findDuplicate(document)
      : { code: invalid.code, message: messageOf(invalid), offset: invalid.pos[0] };
  if (found === undefined) return { document, error: undefined };
  const { line, col: column } = lines.linePos(found.offset);
  return { document, error: { code: found.code, message: found.message, line, column } };
}

/**
 * The values of a document without errors, whose objects have no prototype. Throws a Problem 400 when an alias or a
 * merge stands for nothing or for too much.
 */
export function yamlData(document: Document.Parsed): unknown {
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
  } catch (error) {
    throw new Problem(400, `The text has an alias or a merge that cannot be followed: ${errorText(error)}`, {
      cause: error,
    });
  }
  return plainData(value);
}

/** The parser's message about several documents is advice for programmers, so it is replaced. */
function messageOf({ code, message }: YAMLError): string {
  return code === 'MULTIPLE_DOCS' ? 'Only one document may stand here' : (message.split('\n')[0] ?? '');
}

function findDuplicate(document: Document.Parsed): { code: string; message: string; offset: number } | undefined {
  let offset: number | undefined;
  visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          offset = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return offset === undefined ? undefined : { code: 'DUPLICATE_KEY', message: 'Map keys must be unique', offset };
}
