// Makes the row of an event: its texts and details without secrets, within their limits.
import { redactText } from '../redaction/secret-text.ts';
import { redactValue } from '../redaction/secret-value.ts';
import { changeDetails, type OpenSides } from './change-details.ts';
import type { LedgerEvent } from './change-ledger.ts';
import type { NewLedgerRow } from './ledger-statements.ts';

const MAX_SUMMARY_CHARS = 1_000;
const MAX_DETAILS_BYTES = 64 * 1024;
/** How many paths the summary of a configuration change names. */
const NAMED_PATHS = 5;
const MS_PER_S = 1_000;

export function rowOf(event: LedgerEvent, atMs: number): NewLedgerRow {
  const { type, source, processName, isAuthenticated, summary, details } = event;
  return {
    at: atMs / MS_PER_S,
    process_name: processName,
    event_type: type,
    source,
    actor: isAuthenticated ? 'authenticated' : null,
    summary: redactText(summary).slice(0, MAX_SUMMARY_CHARS),
    details_json: detailsText(details),
  };
}

/** The summary and the details of a change of the configuration at these paths; undefined when nothing differs. */
export function configChange(
  before: unknown,
  after: unknown,
  { paths, open }: { readonly paths: readonly string[]; readonly open: OpenSides },
): Pick<LedgerEvent, 'summary' | 'details'> | undefined {
  const details = changeDetails(before, after, { paths, open });
  if (details === undefined) return undefined;
  const { total_changes: total, changes } = details;
  const names = changes.slice(0, NAMED_PATHS).map(({ path }) => path);
  return {
    summary: `${total === 1 ? '1 value' : `${total} values`} changed: ${names.join(', ')}`,
    details: { ...details },
  };
}

/** The same for the configuration file of a service. Values that could not be read are undefined. */
export function fileChange(
  processName: string,
  before: unknown,
  after: unknown,
): Pick<LedgerEvent, 'summary' | 'details'> {
  const changed = before === undefined || after === undefined ? undefined : changeDetails(before, after);
  const what = `The configuration file of ${processName} was changed`;
  if (changed === undefined) return { summary: what, details: {} };
  const names = changed.changes.slice(0, NAMED_PATHS).map(({ path }) => path);
  return { summary: `${what}: ${names.join(', ')}`, details: { ...changed } };
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(redactValue(details));
  return Buffer.byteLength(text) <= MAX_DETAILS_BYTES ? text : JSON.stringify({ truncated: true });
}
