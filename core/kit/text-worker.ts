// The thread that reads large texts: one call of a module's function after the other.
import { parentPort } from 'node:worker_threads';
import { Problem, type ProblemOptions } from '../contract/problem.ts';
import { errorStack, errorText } from './error-text.ts';
import { plainData } from './plain-data.ts';
import { ownThread } from './thread-time.ts';

export interface TextRequest {
  readonly moduleUrl: string;
  /** Name under which the module exports the function. */
  readonly name: string;
  readonly args: readonly unknown[];
}

export type TextReply =
  /** The module is loaded; the time for reading begins. `thread` is the kernel's number, where it tells one. */
  | { readonly kind: 'begun'; readonly thread: number | null }
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'problem'; readonly status: number; readonly detail: string; readonly options: ProblemOptions }
  | { readonly kind: 'error'; readonly message: string; readonly stack: string };

const port = parentPort;
port?.on('message', (request: TextRequest) => void answer(request));

function post(reply: TextReply): void {
  port?.postMessage(reply);
}

async function answer({ moduleUrl, name, args }: TextRequest): Promise<void> {
  try {
    const module = (await import(moduleUrl)) as Readonly<Record<string, unknown>>;
    const read = Object.hasOwn(module, name) ? module[name] : undefined;
    if (typeof read !== 'function') throw new Error(`${moduleUrl} exports no function '${name}'`);
    post({ kind: 'begun', thread: ownThread() });
    // Counted here, because the owner's thread would stall while it takes over too many values.
    post({ kind: 'result', result: plainData(await read(...args), Number.POSITIVE_INFINITY) });
  } catch (error) {
    post(failure(error));
  }
}

function failure(error: unknown): TextReply {
  if (error instanceof Problem) {
    const { status, message, code, extra, headers } = error;
    const options = { extra, headers, ...(code === undefined ? {} : { code }) };
    return { kind: 'problem', status, detail: message, options };
  }
  return { kind: 'error', message: errorText(error), stack: error instanceof Error ? errorStack(error) : '' };
}
