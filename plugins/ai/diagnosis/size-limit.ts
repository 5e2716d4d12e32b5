// Makes a bundle smaller, step by step, until it fits. What explains least goes first, and notes say what was left out.
import { isObject } from '#kit/plain-object';

type Bundle = Record<string, unknown>;

const LOG_FLOOR_CHARS = 4_000;
const DOCS_CHARS = 1_500;
const EXCERPTS = 10;
const CHANGES = 20;
const NOTE = 'Left out because the bundle would be too large.';

/** Cuts a text that is too long, and says at its end how much is missing. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = safeSlice(text, maxChars);
  return `${kept}\n[TRUNCATED ${text.length - kept.length} chars]`;
}

/** The bundle, or a copy made smaller until its JSON text has at most `maxChars` characters or no step is left. */
export function fitBundle(bundle: Readonly<Bundle>, maxChars: number): Bundle {
  let fitting: Bundle = { ...bundle };
  const lengthOf = lengths();
  for (const step of STEPS) {
    if (lengthOf(fitting) <= maxChars) return fitting;
    fitting = step(fitting);
  }
  return fitting;
}

/** Measures the JSON text of bundles. A member that is unchanged in the next bundle is not made into text again. */
function lengths(): (bundle: Bundle) => number {
  const known = new Map<string, { readonly value: unknown; readonly length: number }>();
  const ofMember = ([name, value]: [string, unknown]): number => {
    const before = known.get(name);
    if (before !== undefined && before.value === value) return before.length;
    // Without the braces, and with the comma that follows a member.
    const length = JSON.stringify({ [name]: value }).length - 1;
    known.set(name, { value, length });
    return length;
  };
  return bundle => Object.entries(bundle).reduce((sum, member) => sum + ofMember(member), 1);
}

const STEPS: readonly ((bundle: Bundle) => Bundle)[] = [
  bundle => changed(bundle, 'docs_context', shortDocs),
  ...[32_000, 16_000, 8_000, LOG_FLOOR_CHARS].map(
    maxChars => (bundle: Bundle) => changed(bundle, 'logs', logs => shortLogs(logs, maxChars)),
  ),
  bundle => changed(bundle, 'log_analysis', analysis => eachAnalysis(analysis, shortAnalysis)),
  bundle => without(bundle, ['dependency_graph', 'service_config', 'service_configs']),
  bundle =>
    changed(bundle, 'change_history', history => (Array.isArray(history) ? history.slice(0, CHANGES) : history)),
  // A hostile service can make any of its members as large as it likes.
  bundle => without(bundle, ['logs', 'log_analysis', 'native_diagnostics', 'database_health', 'change_history']),
];

function changed(bundle: Bundle, name: string, change: (value: unknown) => unknown): Bundle {
  return Object.hasOwn(bundle, name) ? { ...bundle, [name]: change(bundle[name]) } : bundle;
}

function without(bundle: Bundle, names: readonly string[]): Bundle {
  const rest = { ...bundle };
  for (const name of names)
    if (Object.hasOwn(rest, name)) {
      delete rest[name];
      rest[`${name}_note`] = NOTE;
    }
  return rest;
}

function shortDocs(docs: unknown): unknown {
  if (!isObject(docs) || !Array.isArray(docs.sources)) return docs;
  const sources = docs.sources
    .filter(isObject)
    .map(source => ({ ...source, excerpt: cutText(String(source.excerpt), DOCS_CHARS) }));
  return { ...docs, sources };
}

function shortLogs(logs: unknown, maxChars: number): unknown {
  if (!isObject(logs)) return logs;
  if (typeof logs.content === 'string') return { ...logs, content: lastChars(logs.content, maxChars) };
  return Object.fromEntries(Object.entries(logs).map(([name, log]) => [name, shortLogs(log, maxChars)]));
}

/** Keeps the end of the text, because it is newer. */
function lastChars(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `[TRUNCATED ${text.length - maxChars} chars]\n${text.slice(-maxChars)}`;
}

/** Calls `change` with the analysis of one service, or of each in a map. */
export function eachAnalysis(
  analysis: unknown,
  change: (analysis: Record<string, unknown>) => Record<string, unknown>,
): unknown {
  if (!isObject(analysis)) return analysis;
  if (isObject(analysis.coverage)) return change(analysis);
  return Object.fromEntries(Object.entries(analysis).map(([name, one]) => [name, eachAnalysis(one, change)]));
}

function shortAnalysis(analysis: Record<string, unknown>): Record<string, unknown> {
  const { excerpts, baseline, ...rest } = analysis;
  return {
    ...rest,
    excerpts: Array.isArray(excerpts) ? excerpts.slice(-EXCERPTS) : excerpts,
    ...(isObject(baseline) ? { baseline: shortAnalysis(baseline) } : {}),
  };
}

/** Cuts a text, but not within a surrogate pair. */
function safeSlice(text: string, maxChars: number): string {
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(maxChars - 1));
  return text.slice(0, isHalf ? maxChars - 1 : maxChars);
}
