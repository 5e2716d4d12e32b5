// The output of a command: texts without control characters, tables in columns, and colours on terminals only.
import type { CommandOutput, Painted } from '../contract/command.ts';
import { reasonText } from '../kit/error-text.ts';
import { textWidth } from './text-width.ts';

const COLOURS = { green: 32, yellow: 33, red: 31, grey: 90 } as const;
/** Characters that move a cursor, hide text or turn its direction. `plain` keeps the line ends and tabs among them. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
const GAP = '  ';

/** Thrown when the reader of the output has closed it, so that the command can end. */
export class OutputClosed extends Error {}

/**
 * Results go to standard output, notes to standard error. After a write has failed, each further one throws an
 * OutputClosed, or the Error that `written` throws.
 */
export function createOutput(env: NodeJS.ProcessEnv): CommandOutput {
  const { stdout, stderr } = process;
  const isTerminal = stdout.isTTY === true;
  let fault: Error | undefined;
  let unwritten = 0;
  const waiting: (() => void)[] = [];
  // The callback of each write gets its error.
  stdout.on('error', () => undefined);
  stderr.on('error', () => undefined);
  const onWritten = (error?: NodeJS.ErrnoException | null): void => {
    if (error) fault ??= error.code === 'EPIPE' ? new OutputClosed() : unwritable(error);
    unwritten -= 1;
    if (unwritten === 0) for (const go of waiting.splice(0)) go();
  };
  const write = (text: string): void => {
    if (fault !== undefined) throw fault;
    unwritten += 1;
    stdout.write(text, onWritten);
  };
  const hasColours = isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
  const paint = (text: string, cell: string | Painted): string =>
    typeof cell === 'string' || !hasColours ? text : `\u001b[${COLOURS[cell.colour]}m${text}\u001b[0m`;
  return {
    isTerminal,
    line: text => write(`${plain(text)}\n`),
    note: text => void stderr.write(`${plain(text)}\n`),
    json: value => write(`${plain(JSON.stringify(value, null, 2))}\n`),
    table(titles, rows) {
      const cells = [titles, ...rows].map(row => row.map(cell => oneLine(typeof cell === 'string' ? cell : cell.text)));
      const widths = titles.map((_title, column) => Math.max(...cells.map(row => textWidth(row[column] ?? ''))));
      for (const [index, row] of cells.entries()) {
        const painted = row.map((text, column) => {
          const isLast = column === row.length - 1;
          const padding = isLast ? '' : ' '.repeat((widths[column] ?? 0) - textWidth(text));
          return paint(text, rows[index - 1]?.[column] ?? '') + padding;
        });
        write(`${painted.join(GAP)}\n`);
      }
    },
    clear() {
      if (isTerminal) write('\u001b[H\u001b[J');
    },
    async written() {
      if (unwritten > 0) await new Promise<void>(resolve => waiting.push(resolve));
      if (fault !== undefined && !(fault instanceof OutputClosed)) throw fault;
    },
  };
}

function unwritable(cause: Error): Error {
  return new Error(`the output cannot be written: ${reasonText(cause)}`, { cause });
}

function plain(text: string): string {
  return text.replaceAll(CONTROL, found => (found === '\n' || found === '\t' ? found : ''));
}

function oneLine(text: string): string {
  return plain(text).replaceAll(/\s+/g, ' ').trim();
}
