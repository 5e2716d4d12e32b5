// The shapes of a sample: the JSON texts of its parts without the numbers in them. Samples that follow each other have
// most shapes in common.
import { compactItem } from './compact-item.ts';

type Sample = Readonly<Record<string, unknown>>;

/** A text, split at its numbers: `texts` are those before, between and after the numbers, so there is one more text. */
export interface Shape {
  readonly texts: readonly string[];
  readonly numbers: readonly number[];
}

/** The parts of a sample in four groups: time and system, managed processes, others, and members that plugins added. */
export type Parts = readonly [
  head: readonly string[],
  managed: readonly string[],
  external: readonly string[],
  more: readonly string[],
];

/** The index of the last group of parts. */
const MORE = 3;
const HEAD_PARTS = 2;
const HEAD = ['timestamp', 'system', 'dumb_managed', 'external'];
const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;
/** Numbers from here on stay part of the texts; so do those with more than three decimals. */
const MAX_WHOLE = 2 ** 48;
const THOUSAND = 1_000;
/** How many shapes are remembered; several samples together have as many parts. */
const MAX_SHAPES = 500;
/** Stands for the first number of a text while the text is converted; the next whole numbers stand for the others. */
const PLACEHOLDER = 2 ** 47;

/** The JSON texts of a sample's parts; undefined for a sample that does not have the form of this program. */
export function partsOf(sample: Sample): Parts | undefined {
  const members = Object.entries(sample);
  const { dumb_managed: managed, external } = sample;
  if (!HEAD.every((key, index) => members[index]?.[0] === key) || !isList(managed) || !isList(external))
    return undefined;
  const textOfMember = ([key, value]: readonly [string, unknown]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`;
  return [
    members.slice(0, HEAD_PARTS).map(textOfMember),
    managed.map(entry => JSON.stringify(entry)),
    external.map(entry => JSON.stringify(entry)),
    members.slice(HEAD.length).map(textOfMember),
  ];
}

export function textOfParts([head, managed, external, more]: Parts): string {
  const lists = `"dumb_managed":[${managed.join()}],"external":[${external.join()}]`;
  return `{${[...head, lists, ...more].join()}}`;
}

export function shapeOf(text: string): Shape {
  const texts: string[] = [];
  const numbers: number[] = [];
  let start = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = afterString(text, at);
      continue;
    }
    let end = at + 1;
    if (code === MINUS || isDigit(code)) {
      while (isOfNumber(text.charCodeAt(end))) end += 1;
      const token = text.slice(at, end);
      const number = Number(token);
      if (isKept(number) && String(number) === token) {
        texts.push(text.slice(start, at));
        numbers.push(number);
        start = end;
      }
    }
    at = end;
  }
  texts.push(text.slice(start));
  return { texts, numbers };
}

function afterString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  for (;;) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end + 1;
    end = text.indexOf('"', end + 1);
  }
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Whether this character may continue a number. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 46 || code === 43 || code === MINUS || code === 69 || code === 101;
}

/** The item of a part: its texts, and between them the places of its numbers among all numbers of the part. */
interface ItemShape {
  readonly texts: readonly string[];
  readonly places: readonly number[];
}

/** Remembered, because parts of the same shape appear in many dictionaries. */
const itemShapes = new Map<string, ItemShape | null>();

/** null when the numbers of the item are not in the order of the part. */
function itemShapeOf(group: number, { texts, numbers }: Shape): ItemShape | null {
  const key = [group, ...texts].join('\0');
  const known = itemShapes.get(key);
  if (known !== undefined) return known;
  const marked = Template.of({ texts, numbers: numbers.map((_, index) => PLACEHOLDER + index) });
  const item = shapeOf(itemOfPart(group, marked.text));
  const places = item.numbers.map(number => number - PLACEHOLDER);
  const isInOrder = places.every((place, index) => place > (places[index - 1] ?? -1));
  const shape = isInOrder ? { texts: item.texts, places } : null;
  const [oldest] = itemShapes.keys();
  if (oldest !== undefined && itemShapes.size >= MAX_SHAPES) itemShapes.delete(oldest);
  itemShapes.set(key, shape);
  return shape;
}

/** A text in which numbers can be replaced. */
export class Template {
  readonly text: string;
  /** Where each number begins and ends, in the order of the text; undefined for a number that is not in the text. */
  readonly spans: readonly (readonly [start: number, end: number] | undefined)[];

  private constructor(text: string, spans: Template['spans']) {
    this.text = text;
    this.spans = spans;
  }

  static of({ texts, numbers }: Shape): Template {
    let text = texts[0] ?? '';
    const spans = numbers.map((number, index) => {
      const start = text.length;
      text += String(number);
      const end = text.length;
      text += texts[index + 1] ?? '';
      return [start, end] as const;
    });
    return new Template(text, spans);
  }

  /** The template of the item of a part; undefined when the numbers of the item are not in the order of the part. */
  static ofItem(group: number, shape: Shape): Template | undefined {
    const item = itemShapeOf(group, shape);
    if (item === null) return undefined;
    const own = Template.of({ texts: item.texts, numbers: item.places.map(place => shape.numbers[place] ?? 0) });
    const spans: Template['spans'][number][] = shape.numbers.map(() => undefined);
    for (const [index, place] of item.places.entries()) spans[place] = own.spans[index];
    return new Template(own.text, spans);
  }

  /** The text with some numbers replaced. The changes must be in the order of their places. */
  with(changes: readonly Change[]): string {
    let text = '';
    let at = 0;
    for (const { place, number } of changes) {
      const span = this.spans[place];
      if (span === undefined) continue;
      text += this.text.slice(at, span[0]) + number;
      at = span[1];
    }
    return at === 0 ? this.text : text + this.text.slice(at);
  }
}

export interface Change {
  readonly place: number;
  /** The new number as text. */
  readonly number: string;
}

/** Throws an Error when the text is not that of a part: damaged bytes may give any text. */
export function checkPart(group: number, text: string): void {
  if (isMember(group)) memberIn(text);
  else JSON.parse(text);
}

/** Throws an Error when the head lacks one of its two members. */
export function checkHead(head: readonly string[]): void {
  if (head.length !== HEAD_PARTS) throw new Error('the head of the sample is damaged');
}

function isMember(group: number): boolean {
  return group === 0 || group === MORE;
}

function memberIn(text: string): readonly [key: string, value: unknown] {
  const [member, ...others] = Object.entries(JSON.parse(`{${text}}`) as Sample);
  if (member === undefined || others.length > 0) throw new Error('a part of the sample is not one member');
  return member;
}

/** The item of a part, as text. Throws an Error when the text is not that of a part. */
export function itemOfPart(group: number, text: string): string {
  if (group === MORE) {
    checkPart(group, text);
    return text;
  }
  if (group === 0) {
    const [key, value] = memberIn(text);
    return `${JSON.stringify(key)}:${textOfItem(compactItem({ [key]: value })[key])}`;
  }
  return textOfItem((compactItem({ external: [JSON.parse(text)] }).external as unknown[])[0]);
}

/** An item lacks what no sample has. */
function textOfItem(item: unknown): string {
  if (item === undefined) throw new Error('a part of the sample is unknown');
  return JSON.stringify(item);
}

function isList(value: unknown): value is readonly Sample[] {
  return (
    Array.isArray(value) && value.every(entry => typeof entry === 'object' && entry !== null && !Array.isArray(entry))
  );
}

function isKept(number: number): boolean {
  if (Math.abs(number) >= MAX_WHOLE / THOUSAND) return Number.isInteger(number) && Math.abs(number) < MAX_WHOLE;
  return Math.round(number * THOUSAND) / THOUSAND === number;
}
