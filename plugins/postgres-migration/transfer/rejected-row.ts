// Words for why a value was refused, by a rule before it was sent or by the server. Of an error of the server only the
// kind, the line and the names are used, because its texts hold values.
import { bareObject } from '#kit/plain-object';
import type { TablePlan } from './column-plan.ts';
import { serverFault } from './server-fault.ts';
import type { Source } from './source.ts';
import type { TransferRule } from './task.ts';
import { faultIn, shown, TransferFault } from './transfer-fault.ts';

const WORDS: Partial<Record<TransferRule, string>> = {
  blob_in_column: 'a blob stands where the column has another type',
  boolean: 'the value is neither 0 nor 1, true nor false',
  bytea: 'a number stands in a column of bytes',
  date: 'the value is no date',
  duplicate_key: 'another row has the same key, which is unique in PostgreSQL',
  constraint: 'PostgreSQL refuses the value',
  empty_text: 'the text is empty, and the column must have a value',
  enum: 'the value is none of those that the column allows',
  integer: 'the value is no whole number',
  interval: 'the value is no time span',
  invalid_utf8: 'the text is not valid UTF-8',
  json: 'the value is no JSON',
  not_null: 'the value is missing, and the column must have one',
  nul: 'the text of a key holds a NUL character',
  number: 'the value is no number',
  range: 'the value is out of the range of the column',
  rounded: 'the value of a key has more digits than the column keeps',
  time: 'the value is no time of day',
  timestamp: 'the value is no time stamp',
  too_long: 'the text is longer than the column',
  uuid: 'the value is no UUID',
};

/** Rules by SQLSTATE or its class. */
const RULES: Readonly<Record<string, TransferRule>> = bareObject(
  Object.entries<TransferRule>({
    '22001': 'too_long',
    '22003': 'range',
    '22008': 'range',
    '23502': 'not_null',
    '23505': 'duplicate_key',
    '22': 'constraint',
    '23': 'constraint',
  }),
);
const LINE = /^COPY [^\n]*?, line (\d{1,15})\b/;

/** What is wrong with a value, and what to do. */
export function valueWords(rule: TransferRule): string {
  return `${WORDS[rule] ?? 'the value cannot be transferred'} (rule ${rule}); mend or remove it in the application`;
}

/** The fault behind an error of a `COPY`, with the row that the error names. */
export async function rejectedRow(
  error: unknown,
  plan: TablePlan,
  source: Source,
  label: string,
): Promise<TransferFault> {
  if (error instanceof TransferFault) return error;
  const { code, where, column, constraint } = error as Readonly<Record<string, unknown>>;
  const rule = typeof code === 'string' ? (RULES[code] ?? RULES[code.slice(0, 2)]) : undefined;
  if (rule === undefined) return serverFault(error, { stage: 'import', label, table: plan.table });
  const [, line] = LINE.exec(String(where)) ?? [];
  const rowid = line === undefined ? undefined : await source.rowidAt(plan, Number(line) - 1);
  const known = plan.columns.find(({ name }) => name === column || isNamed(String(where), name));
  const named = typeof constraint === 'string' ? ` (constraint ${shown(constraint)})` : '';
  return faultIn(
    {
      code: 'transfer.value',
      stage: 'import',
      label,
      table: plan.table,
      rule,
      ...(known === undefined ? {} : { column: known.name }),
      ...(rowid === undefined ? {} : { rowid }),
    },
    `${valueWords(rule)}${named}`,
    error,
  );
}

/** Whether the context of an error names the column. When lines of text are copied, the value follows the name. */
function isNamed(where: string, column: string): boolean {
  return where.includes(`, column ${column}: `) || where.split('\n').some(line => line.endsWith(`, column ${column}`));
}
