// The tables of a database of PostgreSQL, from its catalog. Everything is found by OID, because a look-up by a name of
// mixed case would need it quoted.
import type { ColumnType } from './column-plan.ts';
import type { Target } from './target.ts';

export interface TargetColumn {
  readonly name: string;
  /** null for a type of which no rule is known. */
  readonly type: ColumnType | null;
  readonly typeName: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  /** Computed by the server, which takes no value for it. */
  readonly isGenerated: boolean;
  readonly isKey: boolean;
}

export interface TargetTable {
  readonly name: string;
  readonly columns: readonly TargetColumn[];
  /** Empty without a primary key. */
  readonly primaryKey: readonly string[];
  /** Whether the table can be truncated without others, so that its rows may be written with `FREEZE`. */
  readonly canBeFrozen: boolean;
}

export interface ForeignKey {
  readonly name: string;
  readonly table: string;
  readonly parent: string;
  /** Columns of the child, each with the column of the parent that it refers to. */
  readonly columns: readonly (readonly [child: string, parent: string])[];
  /** Whether a row must have either all of the columns or none (`MATCH FULL`). */
  readonly isFull: boolean;
}

export interface Sequence {
  readonly oid: number;
  /** The name, quoted for a statement. */
  readonly quotedName: string;
  readonly table: string;
  readonly column: string;
  /** The greatest value that it can give out. */
  readonly greatest: string;
}

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly kind: string;
  readonly typmod: number;
  readonly labels: string[] | null;
  readonly not_null: boolean;
  readonly has_default: boolean;
  readonly generated: boolean;
  readonly is_key: boolean;
  readonly primary_place: number | null;
  readonly can_be_frozen: boolean;
}

/** A domain counts as its base type; the server checks the rules of the domain itself. */
const COLUMNS = `
  WITH RECURSIVE base AS (
    SELECT oid, oid AS type, typtypmod AS typmod FROM pg_type WHERE typtype <> 'd'
    UNION ALL
    SELECT t.oid, base.type, CASE WHEN t.typtypmod <> -1 THEN t.typtypmod ELSE base.typmod END
    FROM pg_type t JOIN base ON t.typtype = 'd' AND t.typbasetype = base.oid)
  SELECT c.relname AS table, a.attname AS name, t.typname AS type, t.typtype AS kind,
    CASE WHEN a.atttypmod <> -1 THEN a.atttypmod ELSE base.typmod END AS typmod,
    (SELECT array_agg(e.enumlabel::text) FROM pg_enum e WHERE e.enumtypid = t.oid) AS labels,
    a.attnotnull AS not_null, a.atthasdef OR a.attidentity <> '' AS has_default, a.attgenerated <> '' AS generated,
    EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND a.attnum = ANY (i.indkey)) AS is_key,
    (SELECT array_position(k.conkey, a.attnum) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p')
      AS primary_place,
    c.relkind = 'r' AND NOT EXISTS (
      SELECT FROM pg_constraint k WHERE k.contype = 'f' AND k.confrelid = c.oid AND k.conrelid <> c.oid) AS can_be_frozen
  FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN base ON base.oid = a.atttypid
  JOIN pg_type t ON t.oid = base.type
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  ORDER BY c.relname, a.attnum`;

const FOREIGN_KEYS = `
  SELECT k.conname AS name, c.relname AS table, p.relname AS parent, k.confmatchtype = 'f' AS "isFull",
    (SELECT array_agg(ARRAY[ca.attname::text, pa.attname::text] ORDER BY pair.place)
     FROM unnest(k.conkey, k.confkey) WITH ORDINALITY AS pair (child, parent, place)
     JOIN pg_attribute ca ON ca.attrelid = k.conrelid AND ca.attnum = pair.child
     JOIN pg_attribute pa ON pa.attrelid = k.confrelid AND pa.attnum = pair.parent) AS columns
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class p ON p.oid = k.confrelid
  WHERE k.contype = 'f' AND k.conparentid = 0 AND k.connamespace = current_schema()::regnamespace
  ORDER BY c.relname, k.conname`;

/** Sequences that belong to a column, and those that the default of a column names. */
const SEQUENCES = `
  SELECT DISTINCT s.oid::int8::float8 AS oid, format('%I.%I', n.nspname, s.relname) AS "quotedName",
    c.relname AS table, a.attname AS column, q.seqmax::text AS greatest
  FROM pg_class s
  JOIN pg_sequence q ON q.seqrelid = s.oid
  JOIN pg_namespace n ON n.oid = s.relnamespace
  JOIN (
    SELECT objid AS sequence, refobjid AS relation, refobjsubid AS attribute FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND deptype IN ('a', 'i')
    UNION
    SELECT u.refobjid, d.adrelid, d.adnum FROM pg_depend u JOIN pg_attrdef d ON d.oid = u.objid
    WHERE u.classid = 'pg_attrdef'::regclass AND u.refclassid = 'pg_class'::regclass) AS used ON used.sequence = s.oid
  JOIN pg_class c ON c.oid = used.relation AND c.relnamespace = current_schema()::regnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = used.attribute
  WHERE s.relkind = 'S'
  ORDER BY c.relname, a.attname`;

export async function readTables(target: Target): Promise<TargetTable[]> {
  const rows = await target.query<Readonly<ColumnRow>>(COLUMNS);
  const tables = new Map<string, ColumnRow[]>();
  for (const row of rows) tables.set(row.table, [...(tables.get(row.table) ?? []), row]);
  return [...tables].map(([name, columns]) => ({
    name,
    columns: columns.map(column => ({
      name: column.name,
      type: typeOf(column),
      typeName: column.type,
      isNullable: !column.not_null,
      hasDefault: column.has_default,
      isGenerated: column.generated,
      isKey: column.is_key,
    })),
    primaryKey: columns
      .filter(column => column.primary_place !== null)
      .sort((one, other) => (one.primary_place ?? 0) - (other.primary_place ?? 0))
      .map(column => column.name),
    canBeFrozen: columns.every(column => column.can_be_frozen),
  }));
}

export function readForeignKeys(target: Target): Promise<ForeignKey[]> {
  return target.query(FOREIGN_KEYS);
}

export function readSequences(target: Target): Promise<Sequence[]> {
  return target.query(SEQUENCES);
}

const HEADER_BYTES = 4;
const MAX_FRACTION_DIGITS = 6;
const PRECISION_SHIFT = 16;
const SCALE_BITS = 0x7ff;
const MAX_SCALE = 1_000;
/** The lower half of an interval's typmod holds its digits; all its bits are set when there is no limit. */
const INTERVAL_DIGITS = 0xffff;

function typeOf({ type, kind, typmod, labels }: ColumnRow): ColumnType | null {
  if (kind === 'e') return { kind: 'enum', labels: labels ?? [] };
  switch (type) {
    case 'bool':
      return { kind: 'boolean' };
    case 'int2':
      return { kind: 'integer', bits: 16 };
    case 'int4':
      return { kind: 'integer', bits: 32 };
    case 'int8':
      return { kind: 'integer', bits: 64 };
    case 'float4':
      return { kind: 'float', bits: 32 };
    case 'float8':
      return { kind: 'float', bits: 64 };
    case 'numeric':
      return numericType(typmod);
    case 'text':
    case 'citext':
      return { kind: 'text', maxCharacters: null, isPadded: false };
    case 'varchar':
    case 'bpchar':
      return {
        kind: 'text',
        maxCharacters: typmod === -1 ? null : typmod - HEADER_BYTES,
        isPadded: type === 'bpchar' && typmod !== -1,
      };
    case 'timestamp':
    case 'timestamptz':
      return { kind: 'timestamp', fractionDigits: fractionDigits(typmod), hasZone: type === 'timestamptz' };
    case 'time':
      return { kind: 'time', fractionDigits: fractionDigits(typmod) };
    case 'interval':
      return { kind: 'interval', fractionDigits: fractionDigits(typmod === -1 ? -1 : typmod & INTERVAL_DIGITS) };
    case 'bytea':
    case 'date':
    case 'uuid':
    case 'json':
    case 'jsonb':
      return { kind: type };
    default:
      return null;
  }
}

function numericType(typmod: number): ColumnType | null {
  if (typmod === -1) return { kind: 'numeric', limit: null };
  const scale = (typmod - HEADER_BYTES) & SCALE_BITS;
  // A scale below zero has its highest bit set.
  if (scale > MAX_SCALE) return null;
  return { kind: 'numeric', limit: { precision: (typmod - HEADER_BYTES) >> PRECISION_SHIFT, scale } };
}

function fractionDigits(typmod: number): number {
  return typmod < 0 || typmod > MAX_FRACTION_DIGITS ? MAX_FRACTION_DIGITS : typmod;
}
