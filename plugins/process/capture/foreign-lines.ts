// Writes lines of another program into the logs of a process, such as those of a build of its program.
import { RotatingFile } from '#kit/rotating-file';
import type { CaptureTarget, SessionOptions } from './capture-session.ts';
import { LogBlock } from './log-block.ts';
import { toLines } from './output-lines.ts';

/** Resolves when the lines are written, or counted as dropped. */
export async function writeForeignLines(
  { processName, logFile, logLevel, suppressed, owner }: CaptureTarget,
  texts: readonly string[],
  { rotation, ownLevel, deliver, log }: SessionOptions,
): Promise<void> {
  const lines = toLines(Buffer.from(texts.map(text => `${text}\n`).join('')));
  const at = Date.now();
  if (!suppressed) await deliver(new LogBlock().format(lines, at, processName, ownLevel()));
  if (logFile === null) return;
  const { block } = new LogBlock().format(lines, at, processName, logLevel);
  const warn = (message: string, error?: unknown): void => log.warn(message, error);
  const file = new RotatingFile({ file: logFile, rotation, owner, warn });
  try {
    await file.inTurn(async () => {
      if (await file.prepare(block.length)) await file.append(block);
    });
  } finally {
    await file.close();
  }
}
