// The lines of the log for a message and the error behind it.
import { errorStack, errorText, reasonText } from '../kit/error-text.ts';
import { redactedHead } from '../kit/redacted-head.ts';

/** How many errors of a chain of causes are followed; a longer chain, or a cycle, is cut. */
const MAX_CAUSES = 10;
/** Limit in characters for one message with its causes, because it may quote text of other programs, of any length. */
const MAX_MESSAGE_LENGTH = 64 * 1024;

/** The message and the chain of causes in one line; with `withStack` each stack frame is a further line. */
export function messageLines(message: string, error: unknown, withStack: boolean): string[] {
  const causes: string[] = [];
  let innermost: Error | undefined;
  for (let cause = error, depth = 0; cause !== undefined && cause !== null && depth < MAX_CAUSES; depth += 1) {
    const reason = reasonText(cause);
    // A message that was made from its cause holds the reason already.
    if (![message, ...causes].some(told => told.includes(reason))) causes.push(errorText(cause));
    if (cause instanceof Error) innermost = cause;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  const stack = withStack && innermost !== undefined ? bounded(errorStack(innermost)).split('\n').slice(1) : [];
  return [bounded([message, ...causes].join(': ')), ...stack]
    .flatMap(text => text.split(/\r?\n/))
    .filter(text => text.trim() !== '');
}

function bounded(text: string): string {
  return text.length <= MAX_MESSAGE_LENGTH ? text : redactedHead(text, MAX_MESSAGE_LENGTH, ' [cut off]');
}
