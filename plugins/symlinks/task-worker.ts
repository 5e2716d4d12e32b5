// The program of the child process, which runs one task at a time. It is killed when its host ends.
import { Problem } from '#core';
import { errorText } from '#kit/error-text';
import type { FromChild, TaskProgress, TaskRun, ToChild } from './tasks/task.ts';
import { tasks } from './tasks.ts';

const REPORT_MS = 250;

let isStopped = false;

process.on('message', (message: ToChild) => {
  if (message.kind === 'stop') isStopped = true;
  else void run(message);
});
// A normal exit would wait for calls that hang.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function run({ task, input, id, places, answerMs }: Extract<ToChild, { kind: 'run' }>): Promise<void> {
  let isUsedUp = false;
  let progress: (() => TaskProgress) | undefined;
  let beats: () => number = () => 0;
  const own: TaskRun = {
    id,
    places,
    answerMs,
    get isStopped() {
      return isStopped;
    },
    onProgress: ask => {
      progress = ask;
    },
    onBeats: ask => {
      beats = ask;
    },
    useUp: () => {
      isUsedUp = true;
    },
  };
  let last = '';
  let lastBeats = -1;
  const report = (): void => {
    const now = progress?.();
    const text = JSON.stringify(now);
    if (now !== undefined && text !== last) send({ kind: 'progress', progress: now });
    else if (beats() !== lastBeats) send({ kind: 'alive' });
    last = text;
    lastBeats = beats();
  };
  const timer = setInterval(report, REPORT_MS);
  try {
    const result = await (tasks[task] as (input: unknown, run: TaskRun) => Promise<unknown>)(input, own);
    report();
    send({ kind: 'result', result, isUsedUp });
  } catch (error) {
    report();
    send({ kind: 'failure', failure: failureOf(error), isUsedUp });
  } finally {
    clearInterval(timer);
  }
}

function failureOf(error: unknown) {
  if (error instanceof Problem) return { message: error.message, status: error.status, code: error.code ?? 'failed' };
  return { message: errorText(error), status: 500, code: 'failed' };
}

function send(message: FromChild): void {
  process.send?.(message);
}
