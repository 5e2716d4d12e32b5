// The names of scheduled manifests: a template with placeholders for the time and the process, which gives the name for
// a moment and recognises the files that it has named.
import path from 'node:path';
import { Problem } from '#core';
import { stampOf } from '../manifest/time-stamp.ts';

/** The placeholders for times, in UTC. `timestamp` is as in 20250131T040000Z; `date` and `time` are its halves. */
const TIMES = {
  timestamp: { pattern: '([0-9]{8}T[0-9]{6}Z)', of: (stamp: string) => stamp },
  date: { pattern: '([0-9]{8})', of: (stamp: string) => stamp.slice(0, 8) },
  time: { pattern: '([0-9]{6})', of: (stamp: string) => stamp.slice(9, 15) },
} as const;
type Time = keyof typeof TIMES;
const TIME = /\{(timestamp|date|time)\}/g;

/** Lower case, with `-` for every other character than letters and digits, and none at the ends. */
export function slugOf(processName: string): string {
  const words = processName.toLowerCase().split(/[^a-z0-9]/);
  while (words[0] === '') words.shift();
  while (words.at(-1) === '') words.pop();
  return words.join('-') || 'service';
}

/** What determines the names of the manifests of a process. */
export interface NameInput {
  /** A normalised path. */
  readonly template: string;
  readonly processName: string;
}

export class ManifestName {
  readonly input: NameInput;
  readonly directory: string;
  /** The path with `*` for placeholders of times, for users. */
  readonly pattern: string;
  readonly #base: string;
  readonly #made: RegExp;
  readonly #times: readonly Time[];

  /** Throws a Problem 400 for a template that does not give the path of a manifest. */
  constructor(input: NameInput) {
    const { template, processName } = input;
    this.input = input;
    const named = template.replaceAll(/\{process_(?:name|slug)\}/g, slugOf(processName));
    this.directory = path.dirname(named);
    this.#base = path.basename(named);
    if (!this.#base.endsWith('.json')) throw new Problem(400, 'symlink_backup_path must end in .json');
    if (this.directory.search(TIME) !== -1)
      throw new Problem(
        400,
        'symlink_backup_path can have {timestamp}, {date} and {time} in the name of the file only',
      );
    this.pattern = path.join(this.directory, this.#base.replaceAll(TIME, '*'));
    this.#times = Array.from(this.#base.matchAll(TIME), ([, time]) => time as Time);
    const literals = this.#base
      .split(/\{(?:timestamp|date|time)\}/)
      .map(text => text.replaceAll(/[^A-Za-z0-9]/gu, '\\$&'));
    const patterns = literals.map((literal, index) => literal + (TIMES[this.#times[index] as Time]?.pattern ?? ''));
    this.#made = new RegExp(`^${patterns.join('')}$`);
  }

  /** The path of a manifest that is written at this moment. */
  at(moment: Date): string {
    const stamp = stampOf(moment);
    return path.join(
      this.directory,
      this.#base.replaceAll(TIME, (_whole, time: Time) => TIMES[time].of(stamp)),
    );
  }

  /** Whether the template makes this name of a file. */
  makes(name: string): boolean {
    return this.#made.test(name);
  }

  /** The time in a name, as text that sorts by time; undefined when the name has no date. */
  timeIn(name: string): string | undefined {
    const values = this.#made.exec(name)?.slice(1) ?? [];
    const found = Object.fromEntries(this.#times.map((time, index) => [time, values[index]]));
    if (found.timestamp !== undefined) return found.timestamp;
    return found.date === undefined ? undefined : `${found.date}T${found.time ?? '000000'}Z`;
  }
}
