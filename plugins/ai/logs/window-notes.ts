// Notes on the lines of one span of time: levels, markers, signatures, causes, and the lines that are shown.
import { utcTime } from '#kit/utc-time';
import type { MatchedLine } from '../contract.ts';
import { redactText } from '../redaction/secret-text.ts';
import { KNOWN_CAUSES } from './known-causes.ts';
import type { LineLevel } from './line-level.ts';
import { likenessOf, messageOf, signatureOf } from './signature.ts';

export interface NotedLine {
  readonly atMs: number;
  readonly level: LineLevel;
  readonly file: string;
  readonly line: number;
  /** The line, with the following lines that have no time. */
  text: string;
  /** Index in `text` behind the time. */
  readonly from: number;
}

export interface CauseNote {
  count: number;
  first: NotedLine;
  last: NotedLine;
}

interface SignatureNote {
  readonly sample: string;
  count: number;
  /** How many of them are in the second half of the span. */
  late: number;
}

export const MAX_LIKENESSES = 5_000;
const MAX_MATCHES = 20_000;
const TOP = 15;
const EXCERPT_CHARS = 1_000;
/** Limit of a kept line and the lines that belong to it, before secrets are masked. */
const KEPT_CHARS = 4_000;
const MIN_GAP_MS = 300_000;

/** Keeps the last `size` of the added values. */
class Ring<Value> {
  readonly #size: number;
  readonly #values: Value[] = [];
  #next = 0;

  constructor(size: number) {
    this.#size = size;
  }

  add(value: Value): void {
    if (this.#values.length < this.#size) this.#values.push(value);
    else this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % this.#size;
  }

  last(count: number): Value[] {
    const { length } = this.#values;
    const ordered =
      length < this.#size ? this.#values : [...this.#values.slice(this.#next), ...this.#values.slice(0, this.#next)];
    return ordered.slice(Math.max(0, length - count));
  }
}

export class WindowNotes {
  readonly fromMs: number;
  readonly toMs: number;
  lines = 0;
  restarts = 0;
  stops = 0;
  readonly causes = new Map<string, CauseNote>();
  readonly #quota: number;
  readonly #levels = new Map<LineLevel, number>();
  readonly #signatures = new Map<string, SignatureNote>();
  readonly #severe: Ring<NotedLine>;
  readonly #asked: Ring<NotedLine>;
  readonly #warnings: Ring<NotedLine>;
  readonly #matches = new Ring<MatchedLine>(MAX_MATCHES);
  #lastMs: number | undefined;
  #gapMs = 0;

  /** `quota` is the number of lines that are shown. */
  constructor({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }, quota: number) {
    this.fromMs = fromMs;
    this.toMs = toMs;
    this.#quota = quota;
    this.#severe = new Ring(quota);
    this.#asked = new Ring(quota);
    this.#warnings = new Ring(Math.floor(quota / 2));
  }

  has(atMs: number): boolean {
    return atMs >= this.fromMs && atMs < this.toMs;
  }

  /** Counts a line with a time. */
  count(atMs: number, level: LineLevel): void {
    this.lines += 1;
    this.#levels.set(level, (this.#levels.get(level) ?? 0) + 1);
    if (this.#lastMs !== undefined) this.#gapMs = Math.max(this.#gapMs, atMs - this.#lastMs);
    this.#lastMs = Math.max(atMs, this.#lastMs ?? atMs);
  }

  keep(line: NotedLine, isAsked: boolean): void {
    const { level } = line;
    if (level === 'error' || level === 'critical') this.#severe.add(line);
    else if (isAsked) this.#asked.add(line);
    else if (level === 'warning') this.#warnings.add(line);
  }

  noteSignature({ text, from, atMs }: NotedLine): void {
    const message = messageOf(text, from);
    const likeness = likenessOf(message);
    const late = atMs >= (this.fromMs + this.toMs) / 2 ? 1 : 0;
    const known = this.#signatures.get(likeness);
    if (known !== undefined) {
      known.count += 1;
      known.late += late;
    } else if (this.#signatures.size < MAX_LIKENESSES)
      this.#signatures.set(likeness, { sample: message.slice(0, KEPT_CHARS), count: 1, late });
  }

  noteCause(id: string, line: NotedLine): void {
    const known = this.causes.get(id);
    if (known === undefined) this.causes.set(id, { count: 1, first: line, last: line });
    else if (known.last !== line) {
      // The lines of one stack trace may state the same cause more than once.
      known.count += 1;
      known.last = line;
    }
  }

  noteMatch(line: MatchedLine): void {
    this.#matches.add(line);
  }

  /** The newest matches, oldest first. */
  matched(): MatchedLine[] {
    return this.#matches.last(MAX_MATCHES);
  }

  levels(): Record<string, number> {
    return Object.fromEntries(this.#levels);
  }

  /** null when the longest gap is less than five minutes. */
  longestGapSeconds(): number | null {
    return this.#gapMs >= MIN_GAP_MS ? Math.round(this.#gapMs / 1_000) : null;
  }

  /** The most frequent first. Messages that have the same signature once secrets are masked are counted together. */
  signatures(maxLikenesses = TOP * 10): Map<string, { count: number; late: number }> {
    const merged = new Map<string, { count: number; late: number }>();
    const frequent = [...this.#signatures.values()].sort((a, b) => b.count - a.count).slice(0, maxLikenesses);
    for (const { sample, count, late } of frequent) {
      const signature = signatureOf(sample);
      const known = merged.get(signature);
      if (known === undefined) merged.set(signature, { count, late });
      else {
        known.count += count;
        known.late += late;
      }
    }
    return new Map([...merged].sort(([, a], [, b]) => b.count - a.count));
  }

  topSignatures(): { signature: string; count: number }[] {
    return [...this.signatures()].slice(0, TOP).map(([signature, { count }]) => ({ signature, count }));
  }

  /** Half of the places are kept for severe lines, so that frequent lines cannot push them out. */
  excerpts(known: readonly string[]): Record<string, unknown>[] {
    const [severe, asked, warnings] = [this.#severe, this.#asked, this.#warnings].map(ring => ring.last(this.#quota));
    const others = [...(asked ?? []), ...(warnings ?? [])].sort(inOrder);
    const room = Math.max(Math.ceil(this.#quota / 2), this.#quota - others.length);
    const kept = (severe ?? []).slice(-room);
    const rest = this.#quota - kept.length;
    const lines = rest === 0 ? kept : [...kept, ...others.slice(-rest)];
    return lines.sort(inOrder).map(line => excerptOf(line, known));
  }

  knownCauses(known: readonly string[]): Record<string, unknown>[] {
    return KNOWN_CAUSES.flatMap(({ id, title, least = 1 }) => {
      const note = this.causes.get(id);
      if (note === undefined || note.count < least) return [];
      const { count, first, last } = note;
      return [{ id, title, count, first_at: utcTime(first.atMs), ...excerptOf(last, known) }];
    });
  }
}

/** Appends a line that belongs to the one before it. */
export function append(line: NotedLine, text: string): void {
  if (line.text.length < KEPT_CHARS) line.text += `\n${text.slice(0, KEPT_CHARS)}`;
}

function excerptOf({ atMs, level, file, line, text }: NotedLine, known: readonly string[]): Record<string, unknown> {
  return { at: utcTime(atMs), level, file, line, content: redactText(text, known).slice(0, EXCERPT_CHARS) };
}

function inOrder(one: NotedLine, other: NotedLine): number {
  return one.atMs - other.atMs || one.line - other.line;
}
