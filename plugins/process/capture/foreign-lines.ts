// Writes lines of another program into the logs of a process, such as those of a build of its program.
import type { Logger, LogHub } from '#core';
import { RotatingFile } from '#kit/rotating-file';
import type { CaptureTarget } from './capture-session.ts';
import { LogBlock } from './log-block.ts';
import { toLines } from './output-lines.ts';

/** Resolves when the lines are written, or counted as dropped. */
export async function writeForeignLines(
  { processName, logFile, logLevel, suppressed, owner }: CaptureTarget,
  texts: readonly string[],
  hub: LogHub,
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  const lines = toLines(Buffer.from(texts.map(text => `${text}\n`).join('')));
  const at = Date.now();
  if (!suppressed) {
    hub.writeCaptured(new LogBlock().format(lines, at, processName, hub.configuredLevel()));
    await hub.flush();
  }
  if (logFile === null) return;
  const { block } = new LogBlock().format(lines, at, processName, logLevel);
  const warn = (message: string, error?: unknown): void => log.warn(message, error);
  const file = new RotatingFile({ file: logFile, rotation: () => hub.rotation(), owner, warn });
  try {
    if (await file.prepare(block.length)) await file.append(block);
  } finally {
    await file.close();
  }
}
