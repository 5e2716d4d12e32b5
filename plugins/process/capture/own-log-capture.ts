// The capture of a host: output of services also goes into the host's own log, and follows its settings.
import type { Host } from '#core';
import { CaptureThread } from './capture-thread.ts';

/** `directory` holds the spools. */
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
