// Why a migration failed, in words that hold no secret and no value of a row.
import { Problem } from '#core';
import { errorText } from '#kit/error-text';
import type { JobFailure } from './job.ts';
import { codeOf } from './server.ts';

export class MigrationFault extends Error {
  readonly stage: string;
  readonly code: string;
  readonly place: Pick<JobFailure, 'table' | 'column'>;

  constructor(stage: string, code: string, message: string, place: Pick<JobFailure, 'table' | 'column'> = {}) {
    super(message);
    this.stage = stage;
    this.code = code;
    this.place = place;
  }
}

const DISK = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'];
const SQLSTATE = /^[0-9A-Z]{5}$/;
const LOST = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE'];
/** Messages without a code that pg has when the server ends before or during a query. */
const LOST_TEXT = /^(?:Connection terminated|Client (?:was closed|has encountered a connection error))/;

/**
 * `stage` counts for errors that name no stage themselves. Messages of the server are left out, because they may hold
 * values of rows.
 */
export function failureOf(error: unknown, stage: string): JobFailure {
  if (error instanceof MigrationFault)
    return { message: error.message, code: error.code, stage: error.stage, ...error.place };
  const code = codeOf(error);
  if (SQLSTATE.test(code))
    return { message: `PostgreSQL failed (${code}); see its log`, code: 'migration.server', stage };
  if (LOST.includes(code) || (code === '' && LOST_TEXT.test(errorText(error))))
    return { message: 'PostgreSQL takes no connections any more', code: 'migration.server', stage };
  if (DISK.includes(code)) return { message: `${errorText(error)}; see to its disk`, code: 'migration.disk', stage };
  if (error instanceof Problem) return { message: error.message, code: error.code ?? 'migration.failed', stage };
  return { message: errorText(error), code: 'migration.failed', stage };
}
