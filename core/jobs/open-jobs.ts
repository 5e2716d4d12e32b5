// Opens the jobs of one kind for a plugin, together with the records that an earlier host has left on disk.
import type { z } from 'zod';
import type { JobKind, JobRetention, Jobs } from '../contract/job.ts';
import { membersOf, refuseMisspelt, requireDeadline, requireFunction } from '../kit/checked-argument.ts';
import type { Owner } from '../kit/owner.ts';
import { JobQueue } from './job-queue.ts';
import { type FoundRecords, JobRecords } from './records.ts';

const KIND_NAME = /^[a-z][a-z0-9-]{0,63}$/;

const MEMBERS = membersOf<JobKind<z.ZodType, unknown>>({
  input: true,
  run: true,
  concurrency: true,
  maxQueued: true,
  duplicate: true,
  deadlineMs: true,
  graceMs: true,
  keep: true,
  resume: true,
});
const KEEP_MEMBERS = membersOf<JobRetention>({ records: true, perKey: true, days: true, pinned: true });

/** Work that outlived its plugin, by `<plugin>/<kind>`; shared by all loads of all plugins of a host. */
export type WorkLeftBehind = Map<string, Promise<unknown>>;

export interface JobPlace {
  readonly configDir: string;
  readonly leftBehind: WorkLeftBehind;
}

export interface OpenedJobs<Input extends z.ZodType, Result> {
  readonly jobs: Jobs<Input, Result>;
  /** Reads the records of earlier hosts. Throws an Error when their directory cannot be trusted. */
  load(): Promise<void>;
  /** Starts jobs that resume. Before this call only records of new jobs are written. */
  resume(): void;
  close(): Promise<void>;
}

/** Throws an Error when options of the kind contradict each other. */
export function openJobs<Input extends z.ZodType, Result>(
  owner: Owner,
  name: string,
  kind: JobKind<Input, Result>,
  { configDir, leftBehind }: JobPlace,
): OpenedJobs<Input, Result> {
  if (!KIND_NAME.test(name))
    throw new Error(`'${name}' is no name of a kind of jobs: lower-case letters, digits, hyphens`);
  refuseMisspelt(Object.keys(kind), MEMBERS, `the kind of jobs '${name}' of ${owner.plugin}`);
  refuseMisspelt(Object.keys(kind.keep ?? {}), KEEP_MEMBERS, `'keep' of the jobs '${name}' of ${owner.plugin}`);
  requireFunction(kind.run, `the work of the jobs of ${name}`);
  if (kind.keep?.pinned !== undefined) requireFunction(kind.keep.pinned, `'pinned' of the jobs of ${name}`);
  for (const ms of [kind.deadlineMs, kind.graceMs]) requireDeadline(ms, `the kind of jobs ${name}`);
  const { concurrency = 1 } = kind;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new Error(`${String(concurrency)} jobs of ${name} are to run at once; give a number from 1`);
  if (kind.resume === true && kind.keep === undefined) throw new Error(`jobs of ${name} that resume need 'keep'`);
  const records = kind.keep === undefined ? null : new JobRecords(configDir, owner.plugin, name);
  const place = `${owner.plugin}/${name}`;
  const queue = new JobQueue({ owner, name, kind: kind as never, records, leftBehind: leftBehind.get(place) });
  let found: FoundRecords = { jobs: [], unreadable: new Map() };
  return {
    // The queue checks inputs by the kind's schema, so this narrowing of types is safe.
    jobs: queue as Jobs as Jobs<Input, Result>,
    async load() {
      if (records === null) return;
      found = await records.load();
      queue.adopt(found);
    },
    resume: () => void queue.resume(found),
    async close() {
      const closed = queue.close();
      // Known before anything is waited for: after its deadline a disposer goes on, but the plugin is set up again.
      const left = Promise.allSettled([leftBehind.get(place), queue.working(), closed]);
      leftBehind.set(place, left);
      void left.then(() => {
        if (leftBehind.get(place) === left) leftBehind.delete(place);
      });
      await closed;
    },
  };
}
