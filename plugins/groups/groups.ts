// Groups of services, named by `groups` in their blocks. They are started in dependency order and stopped in reverse.
import { type Host, Problem } from '#core';
import { doneOrLate } from '#kit/deadline';
import { errorText } from '#kit/error-text';
import type {} from '../dependency-graph/contract.ts';
import type { ProcessSupervisor, StopOptions } from '../process/contract.ts';

/** After this time a start goes on in the background, and its result is `waiting`. */
const PATIENCE_MS = 300_000;

export interface MemberResult {
  readonly process_name: string;
  readonly status: string;
  readonly error?: string;
}

type Needs = ReadonlyMap<string, ReadonlySet<string>>;

export class Groups {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Process names by group, both in document order. */
  all(): ReadonlyMap<string, readonly string[]> {
    const groups = new Map<string, string[]>();
    for (const { processName, isHost, block } of this.#host.use('config.store').blocks()) {
      const key = block.groups as string | readonly string[] | undefined;
      if (isHost || key === undefined) continue;
      for (const group of new Set(typeof key === 'string' ? [key] : key))
        groups.set(group, [...(groups.get(group) ?? []), processName]);
    }
    return groups;
  }

  async start(group: string, by: string): Promise<readonly MemberResult[]> {
    const names = this.#members(group);
    const supervisor = this.#host.use('process.supervisor');
    return this.#inOrder(names, await this.#needs(names), name => startOne(supervisor, name, 'request', by));
  }

  async stop(group: string, by: string, options: StopOptions = {}): Promise<readonly MemberResult[]> {
    const names = this.#members(group);
    const supervisor = this.#host.use('process.supervisor');
    return this.#inOrder(names, reversed(await this.#needs(names)), name => supervisor.stop(name, by, options));
  }

  /** Services that could not be stopped are not started. */
  async restart(group: string, by: string): Promise<readonly MemberResult[]> {
    const stopped = await this.stop(group, by, { isRestarted: true });
    const failed = stopped.filter(({ error }) => error !== undefined);
    const names = stopped.flatMap(({ process_name: name, error }) => (error === undefined ? [name] : []));
    const supervisor = this.#host.use('process.supervisor');
    const needs = await this.#needs(names);
    return [...failed, ...(await this.#inOrder(names, needs, name => startOne(supervisor, name, 'restart', by)))];
  }

  /** Throws a Problem 404 for a group without members. */
  #members(group: string): readonly string[] {
    const all = this.all();
    const members = all.get(group);
    if (members !== undefined) return members;
    const known =
      all.size === 0 ? 'there are none; name some by groups of a service' : `there are ${[...all.keys()].join(', ')}`;
    throw new Problem(404, `There is no group ${group}; ${known}`);
  }

  /** What each service needs, by process name. Services that are not enabled are absent. */
  async #needs(names: readonly string[]): Promise<Needs> {
    try {
      return (await this.#host.find('dependency.graph')?.startOrder())?.needs ?? new Map();
    } catch (error) {
      this.#host.log.warn(`the dependency graph cannot be asked for the order of ${names.join(', ')}`, error);
      return new Map();
    }
  }

  /** Acts on each service once those of the group that it needs are done or have failed. `needs` has no cycles. */
  #inOrder(
    names: readonly string[],
    needs: Needs,
    act: (name: string) => Promise<string>,
  ): Promise<readonly MemberResult[]> {
    const results = new Map<string, Promise<MemberResult>>();
    const of = (name: string): Promise<MemberResult> => {
      const before = [...(needs.get(name) ?? [])].filter(other => names.includes(other));
      const result = results.get(name) ?? Promise.all(before.map(of)).then(() => resultOf(name, act(name)));
      results.set(name, result);
      return result;
    };
    return Promise.all(names.map(of));
  }
}

async function startOne(
  supervisor: ProcessSupervisor,
  name: string,
  trigger: 'request' | 'restart',
  by: string,
): Promise<string> {
  // The supervisor logs a later failure, and the status of the process shows it.
  return (await doneOrLate(supervisor.start(name, trigger, by), PATIENCE_MS))?.status ?? 'waiting';
}

async function resultOf(name: string, acting: Promise<string>): Promise<MemberResult> {
  try {
    return { process_name: name, status: await acting };
  } catch (error) {
    return { process_name: name, status: 'failed', error: errorText(error) };
  }
}

function reversed(needs: Needs): Needs {
  const needed = new Map<string, Set<string>>();
  for (const [name, others] of needs)
    for (const other of others) needed.set(other, (needed.get(other) ?? new Set()).add(name));
  return needed;
}
