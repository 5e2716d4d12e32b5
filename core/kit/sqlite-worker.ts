// The thread of one database: runs the statements of its owner's module, one message after the other.
import { deserialize, serialize } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type BetterSqlite3 from 'better-sqlite3';
import type { Migration, SqliteDatabase } from '../contract/database.ts';
import { errorText } from './error-text.ts';
import { faultOf, SqliteFault } from './sqlite-fault.ts';
import { SqliteFile, type SqliteFileOptions, type SqliteLoss } from './sqlite-file.ts';

export interface SqliteWorkerData extends SqliteFileOptions {
  /** URL of the module that defines the statements. */
  readonly statements: string;
  readonly maxBytes: number;
  /** Memory that the statements' module has in common with its owner, as `workerData.shared`. */
  readonly shared?: SharedArrayBuffer;
  /** Limit of the memory that the statements hold at a time. Default 256 MB. */
  readonly memoryMb?: number;
}

export type SqliteRequest =
  | { readonly kind: 'open' }
  | { readonly kind: 'call'; readonly name: string; readonly args: Uint8Array }
  | { readonly kind: 'rows'; readonly cursor: number; readonly name: string; readonly args: Uint8Array }
  | { readonly kind: 'page'; readonly cursor: number; readonly rows: number }
  | { readonly kind: 'end'; readonly cursor: number }
  | { readonly kind: 'close' };

export type SqliteReply =
  | { readonly id: number; readonly result: Uint8Array }
  | {
      readonly id: number;
      readonly error: { readonly message: string; readonly code: string | undefined; readonly isFault: boolean };
      /** Whether the thread has closed its database and accepts no further requests. */
      readonly isOver: boolean;
    }
  /** The file was removed or replaced. The request was not executed, and the thread accepts no further ones. */
  | { readonly id: number; readonly loss: SqliteLoss }
  | { readonly warning: string };

interface Cursor {
  readonly reader: BetterSqlite3.Database;
  readonly rows: Iterator<unknown>;
  idle: NodeJS.Timeout;
}

type Module = Readonly<Record<string, unknown>>;

const MAX_CURSORS = 8;
const CURSOR_IDLE_MS = 30_000;
/** How often it is looked whether the file is still there. */
const LOOK_MS = 1_000;

const port = parentPort;
const options = workerData as SqliteWorkerData;
const cursors = new Map<number, Cursor>();
let lookedMs = Number.NEGATIVE_INFINITY;
const warn = (warning: string): void => post({ warning });
const loaded = load();
// Each request reports a failed load. Without this the thread would end before the first one, as if the database had
// failed.
loaded.catch(() => undefined);

port?.on('message', ({ id, request }: { id: number; request: SqliteRequest }) => void answer(id, request));

async function load(): Promise<{ statements: Module; file: SqliteFile }> {
  const statements = (await import(options.statements)) as Module;
  const migrations = (statements.migrations ?? []) as readonly Migration[];
  if (!Array.isArray(migrations)) throw new Error(`'migrations' of ${options.statements} is no list`);
  return { statements, file: new SqliteFile(options, options.readOnly ? [] : migrations, warn) };
}

function post(reply: SqliteReply, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(reply, transfer);
}

async function answer(id: number, request: SqliteRequest): Promise<void> {
  try {
    const loss = await fileLoss(request);
    if (loss !== undefined) {
      post({ id, loss });
      return;
    }
    const result = serialize(await run(request));
    if (result.length > options.maxBytes) {
      throw new Error(
        `the result of ${'name' in request ? request.name : 'a page'} is larger than ${options.maxBytes} bytes`,
      );
    }
    const bytes = new Uint8Array(result);
    post({ id, result: bytes }, [bytes.buffer]);
  } catch (error) {
    await fail(id, error);
  }
}

/**
 * How the file was lost. Rows that are being read from it are given to their end before that counts. A request for rows
 * opens the file once more, so it looks each time.
 */
async function fileLoss({ kind }: SqliteRequest): Promise<SqliteLoss | undefined> {
  const nowMs = performance.now();
  if (kind === 'close' || cursors.size > 0) return undefined;
  if (kind !== 'rows' && nowMs - lookedMs < LOOK_MS) return undefined;
  lookedMs = nowMs;
  const { file } = await loaded;
  const loss = file.loss();
  return loss === 'replaced' && !file.leave() ? undefined : loss;
}

async function fail(id: number, error: unknown): Promise<void> {
  const file = await loaded.then(({ file }) => file).catch(() => undefined);
  const fault = file && faultOf(error, file.name);
  let isOver = false;
  if (file !== undefined && fault?.code === 'database.corrupt' && options.onCorrupt === 'replace') {
    for (const cursor of cursors.keys()) end(cursor);
    await file.setAside().catch((cause: unknown) => warn(`${file.name} cannot be set aside: ${messageOf(cause)}`));
    isOver = true;
  }
  const code = fault?.code ?? (error as { code?: unknown }).code;
  const message = fault === undefined ? messageOf(error) : describe(fault);
  post({
    id,
    error: { message, code: typeof code === 'string' ? code : undefined, isFault: fault !== undefined },
    isOver,
  });
}

async function run(request: SqliteRequest): Promise<unknown> {
  const { statements, file } = await loaded;
  switch (request.kind) {
    case 'open':
      await file.open();
      return undefined;
    case 'call': {
      const db = await file.open();
      return statement(statements, request.name)(db as SqliteDatabase, deserialize(request.args));
    }
    case 'rows':
      return openCursor(request.cursor, file, args =>
        statement(statements, request.name)(args as SqliteDatabase, deserialize(request.args)),
      );
    case 'page':
      return page(request.cursor, request.rows);
    case 'end':
      return end(request.cursor);
    case 'close':
      for (const cursor of cursors.keys()) end(cursor);
      return file.close();
  }
}

function statement(statements: Module, name: string): (db: SqliteDatabase, args: unknown) => unknown {
  const fn = Object.hasOwn(statements, name) ? statements[name] : undefined;
  if (typeof fn !== 'function') throw new Error(`${options.statements} has no statement '${name}'`);
  return fn as (db: SqliteDatabase, args: unknown) => unknown;
}

async function openCursor(id: number, file: SqliteFile, read: (db: unknown) => unknown): Promise<void> {
  if (cursors.size >= MAX_CURSORS) {
    throw new SqliteFault('database.busy', `The database ${file.name} is being read ${MAX_CURSORS} times; try again`);
  }
  const reader = await file.openReader();
  try {
    const rows = read(reader) as Iterable<unknown>;
    if (typeof rows?.[Symbol.iterator] !== 'function') throw new Error('what the statement returns cannot be iterated');
    const idle = setTimeout(() => end(id), CURSOR_IDLE_MS).unref();
    cursors.set(id, { reader, rows: rows[Symbol.iterator](), idle });
  } catch (error) {
    if (options.file !== null) reader.close();
    throw error;
  }
}

function page(id: number, count: number): { rows: unknown[]; isLast: boolean } {
  const cursor = cursors.get(id);
  if (cursor === undefined)
    throw new Error(`the rows are gone: they were not asked for within ${CURSOR_IDLE_MS} ms, or the thread ended`);
  cursor.idle.refresh();
  const rows: unknown[] = [];
  while (rows.length < count) {
    const { value, done } = cursor.rows.next();
    if (done) {
      end(id);
      return { rows, isLast: true };
    }
    rows.push(value);
  }
  return { rows, isLast: false };
}

function end(id: number): void {
  const cursor = cursors.get(id);
  cursors.delete(id);
  if (cursor === undefined) return;
  clearTimeout(cursor.idle);
  cursor.rows.return?.();
  if (options.file !== null) cursor.reader.close();
}

function describe(fault: SqliteFault): string {
  return fault.cause === undefined || fault.message.includes(messageOf(fault.cause))
    ? fault.message
    : `${fault.message} (${messageOf(fault.cause)})`;
}

function messageOf(error: unknown): string {
  return errorText(error);
}
