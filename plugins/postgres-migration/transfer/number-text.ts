// Numbers as PostgreSQL writes them.
import type { ColumnType } from './column-plan.ts';
import { ValueFault } from './value-fault.ts';

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;
/** With larger exponents a short text would become a number of megabytes. */
const MAX_EXPONENT = 1_000;
const RANGES = {
  16: [-(2n ** 15n), 2n ** 15n - 1n],
  32: [-(2n ** 31n), 2n ** 31n - 1n],
  64: [-(2n ** 63n), 2n ** 63n - 1n],
} as const;
const INTEGER = /^[+-]?\d{1,19}$/;
/** Doubles from the first bound on, and those below the second, are written with an exponent. */
const EXPONENT_FROM = 1e15;
const EXPONENT_BELOW = 1e-4;
/** From here on each double is an integer, and a short text may lie exactly between two doubles. */
const INTEGERS_FROM = 2 ** 53;

type Limit = Extract<ColumnType, { kind: 'numeric' }>['limit'];

/** The text of an integer. Only a value that SQLite itself holds as a double goes through floating point. */
export function integerText(value: bigint | number | string, bits: 16 | 32 | 64): string {
  const integer = integerOf(value);
  const [least, greatest] = RANGES[bits];
  if (integer < least || integer > greatest) throw new ValueFault('range');
  return integer.toString();
}

function integerOf(value: bigint | number | string): bigint {
  if (typeof value === 'bigint') return value;
  const isWhole = typeof value === 'number' ? Number.isInteger(value) : INTEGER.test(value);
  if (!isWhole) throw new ValueFault('integer');
  return BigInt(value);
}

/** The text of a double. A `real` is written as the double of the same value, which is how both sides are compared. */
export function floatText(value: bigint | number | string, bits: 32 | 64): string {
  const double = doubleOf(value);
  if (bits === 64) return doubleText(double);
  const float = Math.fround(double);
  if (Number.isFinite(double) && !Number.isFinite(float)) throw new ValueFault('range');
  return doubleText(float);
}

function doubleOf(value: bigint | number | string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && !isDecimal(value)) throw new ValueFault('number');
  const double = Number(value);
  if (typeof value === 'bigint' && BigInt(double) !== value) throw new ValueFault('range');
  if (!Number.isFinite(double)) throw new ValueFault('range');
  return double;
}

/** The shortest digits that denote this double, in the form of the server. */
export function doubleText(value: number): string {
  if (Object.is(value, -0)) return '-0';
  const size = Math.abs(value);
  if (value === 0 || !Number.isFinite(value) || (size >= EXPONENT_BELOW && size < EXPONENT_FROM)) return String(value);
  if (size >= INTEGERS_FROM) return `${value < 0 ? '-' : ''}${largeText(size)}`;
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/**
 * JavaScript may write a text that lies exactly between two doubles, because it reads such a text as the even one.
 * PostgreSQL adds digits until the text is nearer to this double than to its neighbours.
 */
function largeText(size: number): string {
  const exact = BigInt(size);
  const [bits = 0n] = new BigUint64Array(new Float64Array([size]).buffer);
  const above = 2n ** ((bits >> 52n) - 1_075n);
  const below = BigInt.asUintN(52, bits) === 0n ? above / 2n : above;
  const isNearest = (one: bigint) => 2n * (one - exact) < above && 2n * (exact - one) < below;
  let count = (size.toExponential().split('e')[0] ?? '').replace('.', '').length;
  let found: bigint | undefined;
  for (; found === undefined; count += 1) found = beside(exact, count).find(isNearest);
  const exponent = found.toString().length - 1;
  while (found % 10n === 0n) found /= 10n;
  const digits = found.toString();
  return `${digits[0]}${digits.length > 1 ? '.' : ''}${digits.slice(1)}e+${exponent}`;
}

/**
 * The two integers of `count` significant digits around this one, the nearer first; if both are equally near, the one
 * with an even last digit.
 */
function beside(integer: bigint, count: number): [bigint, bigint] {
  const unit = 10n ** BigInt(integer.toString().length - count);
  const [digits, rest] = [integer / unit, integer % unit];
  const [down, up] = [digits * unit, (digits + 1n) * unit];
  return 2n * rest > unit || (2n * rest === unit && digits % 2n === 1n) ? [up, down] : [down, up];
}

/** The text of a number of any size, and whether it had to be rounded for the column. */
export function numericText(value: bigint | number | string, limit: Limit): { text: string; isRounded: boolean } {
  const [, sign, whole = '', fraction = '', exponentText = '0'] = DECIMAL.exec(String(value)) ?? [];
  if (sign === undefined || whole + fraction === '') throw new ValueFault('number');
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > MAX_EXPONENT) throw new ValueFault('range');
  const scale = Math.max(0, fraction.length - exponent);
  const digits = `${whole}${fraction}${'0'.repeat(Math.max(0, exponent - fraction.length))}`;
  const shownScale = limit?.scale ?? scale;
  const { integer, isRounded } = rounded(BigInt(digits), scale, shownScale);
  if (limit !== null && integer >= 10n ** BigInt(limit.precision)) throw new ValueFault('range');
  const shown = integer.toString().padStart(shownScale + 1, '0');
  const point = shown.length - shownScale;
  const text = shownScale === 0 ? shown : `${shown.slice(0, point)}.${shown.slice(point)}`;
  return { text: sign === '-' && integer !== 0n ? `-${text}` : text, isRounded };
}

/** Half is rounded away from zero. */
function rounded(integer: bigint, scale: number, wanted: number): { integer: bigint; isRounded: boolean } {
  if (scale <= wanted) return { integer: integer * 10n ** BigInt(wanted - scale), isRounded: false };
  const unit = 10n ** BigInt(scale - wanted);
  return { integer: (integer + unit / 2n) / unit, isRounded: integer % unit !== 0n };
}

function isDecimal(text: string): boolean {
  const [, , whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  return whole + fraction !== '';
}
