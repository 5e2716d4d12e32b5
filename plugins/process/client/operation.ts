// What the commands `start`, `stop` and `restart` share: the choice of services, their order, a line for each, and the
// wait for their results.
import { setTimeout as delay } from 'node:timers/promises';
import type { Command, CommandCall, HostClient } from '#core';
import { hostAnswer } from '#kit/host-answer';
import { unnamedReason } from '#kit/named-reason';
import { inOrder, needsAmong, reversed } from './in-order.ts';
import { chosenServices, readServices, type Service, serviceNames } from './services.ts';

/** The host itself gives up earlier. */
const ANSWER_MS = 3_600_000;
const POLL_MS = 500;
const DEFAULT_WAIT_S = 300;
const MAX_WAIT_S = 86_400;
const MS_PER_S = 1_000;

export interface Operation {
  readonly name: 'start' | 'stop' | 'restart';
  readonly summary: string;
  /** What `--all` means. */
  readonly all: { readonly description: string; includes(service: Service): boolean };
  /** Whether each service goes before those that it needs, instead of after them. */
  readonly isReversed: boolean;
  /** The result that `--wait` waits for: true for success, false for failure, undefined while it is open. */
  outcome(service: Service): boolean | undefined;
}

interface Answer {
  readonly status: string;
  readonly waiting_for?: readonly string[];
}

interface Groups {
  readonly groups: readonly { readonly name: string; readonly process_names: readonly string[] }[];
}

export function operationCommand(operation: Operation): Command {
  return {
    summary: operation.summary,
    arguments: [
      { syntax: '[NAME...]', description: 'names of services, or patterns such as "Example *"', offer: serviceNames },
    ],
    options: [
      { flags: '-a, --all', description: operation.all.description },
      { flags: '-g, --group <NAME>', description: 'all services of a group' },
      { flags: '-w, --wait', description: 'wait for the result of each service' },
      {
        flags: '--timeout <SECONDS>',
        description: `how long --wait waits (default: ${DEFAULT_WAIT_S})`,
        range: [1, MAX_WAIT_S],
      },
    ],
    async run(call) {
      const names = (await meant(operation, call)).map(({ process_name: name }) => name);
      if (names.length === 0) call.output.note(`there is nothing to ${operation.name}`);
      const needs = await needsAmong(names, call.host);
      const results = await inOrder(operation.isReversed ? reversed(needs) : needs, name =>
        perform(operation, name, call),
      );
      return results.includes(false) ? 1 : 0;
    },
  };
}

async function meant(operation: Operation, { args, options, host, misuse }: CommandCall): Promise<readonly Service[]> {
  const { all, group } = options;
  if ([args.length > 0, all, group].filter(Boolean).length !== 1)
    throw misuse(`name services to ${operation.name}, or a group by --group, or all of them by --all`);
  const services = await readServices(host);
  if (all) return services.filter(service => operation.all.includes(service));
  return chosenServices(services, group === undefined ? args : await membersOf(String(group), host));
}

/**
 * The members of a group. They are started or stopped one by one, because the route for a whole group answers only when
 * all are done.
 */
async function membersOf(group: string, host: HostClient): Promise<readonly string[]> {
  const { groups } = hostAnswer<Groups>(await host.get('/process/groups'), {
    groups: [{ name: '', process_names: [''] }],
  });
  const found = groups.find(({ name }) => name === group);
  if (found !== undefined) return found.process_names;
  const names = groups.map(({ name }) => name);
  throw new Error(
    `there is no group '${group}'; ${names.length === 0 ? 'no service names one' : `there are ${names.join(', ')}`}`,
  );
}

/** Whether the operation succeeded. A failure is printed, and does not keep the other services from their turn. */
async function perform(operation: Operation, name: string, { host, options, output }: CommandCall): Promise<boolean> {
  try {
    const answer = await host.post(
      `/process/${operation.name}-service`,
      { process_name: name },
      { timeoutMs: ANSWER_MS },
    );
    const { status, waiting_for: awaited } = hostAnswer<Answer>(answer, { status: '' });
    const waiting = awaited?.length ? `: ${awaited.join(', ')}` : '';
    output.line(`${name}: ${status}${waiting}`);
    if (options.wait) await settled(operation, name, host, Number(options.timeout ?? DEFAULT_WAIT_S));
    return true;
  } catch (error) {
    output.note(`${name}: ${unnamedReason(name, (error as Error).message)}`);
    return false;
  }
}

async function settled(operation: Operation, name: string, host: HostClient, limitS: number): Promise<void> {
  const endMs = performance.now() + limitS * MS_PER_S;
  for (;;) {
    const service = (await readServices(host)).find(({ process_name: other }) => other === name);
    if (service === undefined) throw new Error('it has left the configuration');
    const outcome = operation.outcome(service);
    if (outcome === true) return;
    const { health_reason: reason, restart, status } = service;
    const why = restart.last_failure_reason ?? restart.last_exit_reason ?? reason ?? `it is ${status}`;
    if (outcome === false) throw new Error(why);
    if (performance.now() > endMs) throw new Error(`it is not there after ${limitS} s: ${reason ?? status}`);
    await delay(POLL_MS);
  }
}

/** Whether a service is up: it runs and is healthy, or has ended with exit code 0. undefined while that is open. */
export function isUp({ status, health_status: health, restart }: Service): boolean | undefined {
  if (status === 'stopped') return restart.exit_code === 0 && restart.last_failure_reason === null;
  if (status !== 'running') return undefined;
  return health === null || health === 'healthy' || health === 'degraded' ? true : undefined;
}
