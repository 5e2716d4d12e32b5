// The capture of a host: what it takes from services also goes into the own log, whose settings it follows.
import type { Host } from '#core';
import { CaptureThread } from './capture-thread.ts';

/** `directory` holds the output until it was taken. */
export function captureInto(host: Host, directory: string): CaptureThread {
  const hub = host.use('log.hub');
  return new CaptureThread({
    directory,
    settings: () => ({ rotation: hub.rotation(), ownLevel: hub.configuredLevel() }),
    async deliver(lines) {
      hub.writeCaptured(lines);
      await hub.flush();
    },
    log: host.log,
  });
}
