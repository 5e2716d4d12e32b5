// The worker thread of output capture: handles calls of the main thread and returns lines for the own log to it.
import { parentPort, workerData } from 'node:worker_threads';
import type { CapturedLines } from '#core';
import { askAgain } from '#kit/ask-again';
import { Capture } from './capture.ts';
import type { CaptureSession } from './capture-session.ts';
import type { CaptureCall, CaptureResult, FromWorker, ToWorker, WorkerData } from './capture-thread.ts';

const { directory, settings: firstSettings } = workerData as WorkerData;
let settings = firstSettings;

const sessions = new Map<number, Promise<CaptureSession>>();
const deliveries = new Map<number, () => void>();
let lastDelivery = 0;

function post(message: FromWorker): void {
  parentPort?.postMessage(message);
}

function deliver(lines: CapturedLines): Promise<void> {
  lastDelivery += 1;
  const delivery = lastDelivery;
  return new Promise(resolve => {
    deliveries.set(delivery, resolve);
    post({ delivery, lines });
  });
}

const log =
  (level: 'warn' | 'error') =>
  (message: string, error?: unknown): void =>
    post({ level, message, error });

const capture = new Capture({
  directory,
  rotation: () => settings.rotation,
  ownLevel: () => settings.ownLevel,
  deliver,
  log: { warn: log('warn'), error: log('error') },
  onFault: spoolFault => post({ spoolFault }),
});

async function run(call: CaptureCall): Promise<CaptureResult> {
  switch (call.kind) {
    case 'open': {
      const opened = askAgain(() => capture.open(call.target, call.spoolFile));
      sessions.set(call.session, opened);
      await opened.catch((error: unknown) => {
        sessions.delete(call.session);
        throw error;
      });
      return null;
    }
    case 'retarget':
      await (await sessions.get(call.session))?.retarget(call.target);
      return null;
    case 'finish': {
      const session = await sessions.get(call.session);
      sessions.delete(call.session);
      await session?.finish();
      return session?.bestErrorLine() ?? null;
    }
    case 'write':
      await capture.write(call.target, call.texts, call.spoolFile);
      return null;
    case 'remove-others':
      await Promise.allSettled(sessions.values());
      await capture.removeOthers();
      return null;
    case 'figures':
      return capture.figures();
    case 'close':
      await capture.close();
      return null;
  }
}

parentPort?.on('message', (message: ToWorker) => {
  if ('settings' in message) {
    settings = message.settings;
  } else if ('rotate' in message) {
    capture.rotate();
  } else if ('delivered' in message) {
    deliveries.get(message.delivered)?.();
    deliveries.delete(message.delivered);
  } else {
    const { id, call } = message;
    run(call).then(
      result => post({ id, result }),
      (error: unknown) => post({ id, error }),
    );
  }
});
