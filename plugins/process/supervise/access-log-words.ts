// Warns of an `access_log_file` that the host does not write, because of its place: access lines then stay in the log
// of the service.
import type { Host, NamedBlock } from '#core';
import { ConfigWarnings } from '#kit/config-warnings';
import { findBlocks } from '#kit/named-blocks';
import { isLogPattern, logFileOf } from '#kit/service-log';
import { captureTargetOf } from './capture-target.ts';

/** Reports them in a save, in a review, and once in the log. */
export function tellAccessLogWords(host: Host): void {
  const warnings = new ConfigWarnings(host, root => findBlocks(root).flatMap(named => unusedLog(host, named) ?? []));
  host.tap('config.check', candidate => warnings.check(candidate));
  host.tap('config.review', review => warnings.review(review));
  host.tap('host.ready', () => warnings.tell());
  host.tap('config.changed', () => warnings.tell());
}

/** The warning, as one sentence; undefined when the block's access log is written, or the block does not run. */
function unusedLog(host: Host, named: NamedBlock): string | undefined {
  const { path, block } = named;
  const { logDir } = host.paths;
  const file = logFileOf(block.access_log_file, logDir);
  if (file === null || block.enabled !== true || captureTargetOf(host, named).accessLogFile !== null) return undefined;
  const place = `${path.join('.')}.access_log_file`;
  if (isLogPattern(file))
    return `${place}: '${file}' holds <date>, so the access lines stay in the log of the service; give a whole name`;
  return `${place}: ${file} lies outside ${logDir}, so the access lines stay in the log of the service; move it there`;
}
