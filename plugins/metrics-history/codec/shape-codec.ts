// Samples as differences from an earlier, known sample. For each part the bytes say which part of the known sample has
// the same shape, and by how much the numbers differ. A part for which there is none is kept as text.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import {
  type Change,
  checkHead,
  checkPart,
  itemOfPart,
  type Parts,
  partsOf,
  type Shape,
  shapeOf,
  Template,
  textOfParts,
} from './sample-shape.ts';
import { VarintReader, VarintWriter } from './varints.ts';

type Sample = Readonly<Record<string, unknown>>;

const GROUPS = [0, 1, 2, 3] as const;
/** Units in which numbers differ, the greatest first: memory in pages, percentages in tenths, times in thousandths. */
const UNITS = [4_096, 1, 0.1, 0.001];
/** Marks a part that is kept as text. Other values say how far the place of the known part is from the expected one. */
const TEXT = 1;
/** The first byte: whether the bytes after it are plain or compressed. */
const PLAIN = Buffer.from([0]);
const COMPRESSED = Buffer.from([1]);
/** The size of the window of zlib: of a longer dictionary, only the end is used. */
const WINDOW_BYTES = 32_768;
/** The greatest text that is decompressed; a larger one counts as damaged. */
const MAX_TEXT_BYTES = 16 * 1_024 * 1_024;

interface KnownPart {
  readonly group: number;
  readonly shape: Shape;
  /** The scales of its numbers, each made on first use. */
  readonly scales: (Scale | undefined)[];
  readonly whole: Template;
  /** Made on first use; null when the numbers of the item are not in the order of the part. */
  item: Template | null | undefined;
}

/** A number of the known sample, with the unit in which other numbers are compared with it. */
interface Scale {
  readonly number: number;
  readonly unit: number;
  /** The number in its unit. */
  readonly steps: number;
}

/** An earlier sample, from which others differ. */
export interface KnownSample {
  /** The end of its JSON text, as long as the window of zlib. */
  readonly text: Buffer;
  readonly parts: readonly KnownPart[];
  /** The places in `parts` by group and texts; made on first use. */
  places: ReadonlyMap<string, readonly number[]> | undefined;
}

/** undefined for a sample that does not have the form of this program. */
export function knownSample(text: Buffer): KnownSample | undefined {
  const groups = partsOf(JSON.parse(text.toString()) as Sample);
  if (groups === undefined) return undefined;
  const parts = groups.flatMap((texts, group) =>
    texts.map((part): KnownPart => {
      const shape = shapeOf(part);
      return { group, shape, scales: [], whole: Template.of(shape), item: undefined };
    }),
  );
  return { text: text.subarray(-WINDOW_BYTES), parts, places: undefined };
}

function placesOf(parts: readonly KnownPart[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [place, part] of parts.entries()) {
    const key = keyOf(part.group, part.shape.texts);
    places.set(key, [...(places.get(key) ?? []), place]);
  }
  return places;
}

/** The bytes of a sample; undefined for a sample that does not have the form of this program. */
export function differences(sample: Sample, known: KnownSample): Buffer | undefined {
  const groups = partsOf(sample);
  if (groups === undefined) return undefined;
  const writer = new PartWriter(known);
  for (const [group, parts] of groups.entries()) {
    writer.beginGroup(parts.length);
    for (const part of parts) writer.add(group, part);
  }
  return writer.end();
}

/** Writes the parts of a sample one after the other. */
class PartWriter {
  readonly #known: KnownSample;
  readonly #writer = new VarintWriter();
  #hasText = false;
  /** The place of the known part that is probably like the next part. */
  #expected = 0;

  constructor(known: KnownSample) {
    this.#known = known;
  }

  beginGroup(parts: number): void {
    this.#writer.put(parts);
  }

  add(group: number, part: string): void {
    const shape = shapeOf(part);
    const place = placeOf(this.#known, group, shape, this.#expected);
    const like = place === undefined ? undefined : this.#known.parts[place];
    const codes = like && codesOf(shape.numbers, like);
    if (place === undefined || codes === undefined) {
      this.#hasText = true;
      this.#writer.put(TEXT);
      this.#writer.putBytes(Buffer.from(part));
      return;
    }
    const step = unsigned(place - this.#expected);
    this.#writer.put(step === 0 ? 0 : step + TEXT);
    for (const code of codes) this.#writer.put(code);
    this.#expected = place + 1;
  }

  end(): Buffer {
    const bytes = this.#writer.end();
    return this.#hasText
      ? Buffer.concat([COMPRESSED, deflateRawSync(bytes, { dictionary: this.#known.text })])
      : Buffer.concat([PLAIN, bytes]);
  }
}

/** The JSON text of a sample. Throws an Error when the bytes are damaged. */
export function wholeOfDifferences(bytes: Uint8Array, known: KnownSample): Buffer {
  const groups = groupsOf(
    bytes,
    known,
    ({ whole }, changes) => whole.with(changes),
    (text, group) => {
      checkPart(group, text);
      return text;
    },
  );
  return Buffer.from(textOfParts(groups));
}

/** The JSON text of the item of a sample. Throws an Error when the bytes are damaged. */
export function itemOfDifferences(bytes: Uint8Array, known: KnownSample): Buffer {
  const itemOf = (part: KnownPart, changes: readonly Change[]): string => {
    if (part.item === undefined) part.item = Template.ofItem(part.group, part.shape) ?? null;
    return part.item === null ? itemOfPart(part.group, part.whole.with(changes)) : part.item.with(changes);
  };
  return Buffer.from(textOfParts(groupsOf(bytes, known, itemOf, (text, group) => itemOfPart(group, text))));
}

function groupsOf(
  bytes: Uint8Array,
  known: KnownSample,
  textOf: (part: KnownPart, changes: readonly Change[]) => string,
  ownText: (text: string, group: number) => string,
): Parts {
  const reader = new VarintReader(unpacked(bytes, known));
  let expected = 0;
  const partOf = (group: number): string => {
    const step = reader.take();
    if (step === TEXT) return ownText(Buffer.from(reader.takeBytes()).toString(), group);
    const place = expected + signed(step === 0 ? 0 : step - TEXT);
    const part = known.parts[place];
    if (part?.group !== group) throw new Error('a part of the sample is unknown');
    expected = place + 1;
    return textOf(part, changesOf(reader, part));
  };
  const [head = [], managed, external, more] = GROUPS.map(group => {
    const texts: string[] = [];
    for (let left = reader.take(); left > 0; left -= 1) texts.push(partOf(group));
    return texts;
  });
  checkHead(head);
  return [head, managed ?? [], external ?? [], more ?? []];
}

function changesOf(reader: VarintReader, part: KnownPart): Change[] {
  const changes: Change[] = [];
  const { length } = part.shape.numbers;
  for (let place = reader.skipZeros(length); place < length; ) {
    changes.push({ place, number: String(numberOf(reader.take(), scaleOf(part, place))) });
    place += 1;
    place += reader.skipZeros(length - place);
  }
  return changes;
}

function unpacked(bytes: Uint8Array, { text }: KnownSample): Uint8Array {
  const content = bytes.subarray(1);
  if (bytes[0] === PLAIN[0]) return content;
  return inflateRawSync(content, { dictionary: text, maxOutputLength: MAX_TEXT_BYTES });
}

/** The place of a known part with this shape: the expected place if possible, else the first. */
function placeOf(known: KnownSample, group: number, { texts }: Shape, expected: number): number | undefined {
  known.places ??= placesOf(known.parts);
  const places = known.places.get(keyOf(group, texts));
  return places?.includes(expected) ? expected : places?.[0];
}

/** Joined by a character that JSON text does not contain. */
function keyOf(group: number, texts: readonly string[]): string {
  return [group, ...texts].join('\0');
}

/** undefined when a number cannot be restored exactly from its code. */
function codesOf(numbers: readonly number[], known: KnownPart): number[] | undefined {
  const codes: number[] = [];
  for (const [place, number] of numbers.entries()) {
    const scale = scaleOf(known, place);
    const code = codeOf(number, scale);
    if (numberOf(code, scale) !== number) return undefined;
    codes.push(code);
  }
  return codes;
}

function scaleOf({ scales, shape }: KnownPart, place: number): Scale {
  const known = scales[place];
  if (known !== undefined) return known;
  const number = shape.numbers[place] ?? 0;
  const unit = unitOf(number);
  const scale = { number, unit, steps: stepsOf(number, unit) };
  scales[place] = scale;
  return scale;
}

/** 0 for the same number, odd for a difference in the unit of the scale, even for one in another unit, which it has. */
function codeOf(number: number, scale: Scale): number {
  if (number === scale.number) return 0;
  if (fits(number, scale.unit)) return 1 + unsigned(stepsOf(number, scale.unit) - scale.steps) * 2;
  const unit = unitOf(number);
  const steps = unsigned(stepsOf(number, unit) - stepsOf(scale.number, unit));
  return 2 + (steps * UNITS.length + UNITS.indexOf(unit)) * 2;
}

function numberOf(code: number, scale: Scale): number {
  if (code === 0) return scale.number;
  const left = Math.floor((code - 1) / 2);
  if (code % 2 === 1) return numberOfSteps(scale.steps + signed(left), scale.unit);
  const unit = UNITS[left % UNITS.length] ?? 1;
  return numberOfSteps(stepsOf(scale.number, unit) + signed(Math.floor(left / UNITS.length)), unit);
}

/** The greatest unit of which the number is a multiple. */
function unitOf(number: number): number {
  return UNITS.find(unit => fits(number, unit)) ?? 1;
}

function fits(number: number, unit: number): boolean {
  if (unit >= 1) return number % unit === 0;
  const parts = Math.round(1 / unit);
  return Math.round(number * parts) / parts === number;
}

function numberOfSteps(steps: number, unit: number): number {
  return unit < 1 ? steps / Math.round(1 / unit) : steps * unit;
}

function stepsOf(number: number, unit: number): number {
  return Math.round(unit < 1 ? number * Math.round(1 / unit) : number / unit);
}

function unsigned(number: number): number {
  return number < 0 ? -2 * number - 1 : 2 * number;
}

function signed(number: number): number {
  return number % 2 === 0 ? number / 2 : -(number + 1) / 2;
}
