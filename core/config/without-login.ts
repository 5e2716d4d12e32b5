// Refuses changes over the API that must not be made while authentication is off, because anybody may reach the API.
import type { ConfigObject, NamedBlock } from '../contract/config.ts';
import { Problem } from '../contract/problem.ts';
import { isObject } from '../kit/plain-object.ts';
import { valueAt } from '../kit/value-at.ts';
import { type ConfigPath, dotted, startsWith } from './layers.ts';
import type { Place } from './marks.ts';
import { unreadLook } from './review.ts';

export interface ChangeByAnybody {
  readonly paths: readonly ConfigPath[];
  readonly after: Readonly<ConfigObject>;
  readonly blocks: readonly NamedBlock[];
  readonly place: Place;
  /** The configuration file, where the change can be made instead. */
  readonly file: string;
  /**
   * Whether the path holds a stand-in for a value that does not fit. Every client may correct such a value, because
   * nothing works before.
   */
  readonly isMending: (path: ConfigPath) => boolean;
}

/** Throws a Problem 403 that says what to do. */
export function refuseWithoutLogin({ paths, after, blocks, place, file, isMending }: ChangeByAnybody): void {
  const refused = paths.find(path => place.at(path).needsLogin && !isMending(path));
  if (refused !== undefined) {
    throw new Problem(
      403,
      `${dotted(refused)} cannot be changed while authentication is off; switch it on and log in, or change it in ${file}`,
    );
  }
  // A plugin that is loaded later could not refuse any more what a client has written into its section.
  const unreadPart = unreadLook(after, place);
  for (const path of paths) {
    const part = unreadPart(path);
    if (part === undefined || !isObject(valueAt(after, part))) continue;
    if (blocks.some(block => startsWith(part, block.path))) continue;
    throw new Problem(
      403,
      `${dotted(part)} is a section that no loaded plugin describes, and cannot be changed while authentication is off; ` +
        `switch it on and log in, or change it in ${file}`,
    );
  }
}
