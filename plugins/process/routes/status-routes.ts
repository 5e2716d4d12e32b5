// The routes for the status of processes and of the start.
import { z } from 'zod';
import { type Host, Problem } from '#core';
import { queryBoolean } from '#kit/query-values';
import { requestedBlock } from '#kit/requested-block';
import { unknownProcess } from '#kit/unknown-process';
import type {} from '../../auto-restart/contract.ts';
import type { ProcessSupervisor } from '../contract.ts';
import { ProcessEntries } from './entries.ts';
import { startupSchema, startupToWire } from './startup-wire.ts';
import { healthToWire, statusListSchema, statusSchema, statusToWire } from './status-wire.ts';

const FIRST_PROBE_MS = 3_000;

const nameQuery = z.object({ process_name: z.string() });

export function registerStatusRoutes(host: Host, supervisor: ProcessSupervisor): void {
  const entries = new ProcessEntries(host, supervisor);
  const nameOf = (name: string): string => requestedBlock(host.use('config.store'), name).processName;

  host.route({
    method: 'GET',
    path: '/process/processes',
    summary: 'Every configured process with its configuration and status, in document order',
    get response() {
      return entries.listSchema();
    },
    handle: () => entries.list(),
  });

  host.route({
    method: 'GET',
    path: '/process',
    summary: 'One process with its whole configuration',
    query: nameQuery.extend({ scope: z.string().optional() }),
    get response() {
      return entries.detailSchema();
    },
    async handle({ query: { process_name: name, scope } }) {
      if (scope !== undefined && scope !== 'runtime' && scope !== 'all')
        throw new Problem(400, "scope must be 'runtime' or 'all'");
      return entries.detail(nameOf(name), scope);
    },
  });

  host.route({
    method: 'GET',
    path: '/process/service-status',
    summary: 'The live status of one process, with include_health also its health and restarts',
    query: nameQuery.extend({ include_health: queryBoolean().optional() }),
    response: statusSchema,
    async handle({ query }) {
      const processName = nameOf(query.process_name);
      const health = query.include_health ? await supervisor.freshHealth(processName, FIRST_PROBE_MS) : undefined;
      const snapshot = supervisor.get(processName);
      if (snapshot === undefined) throw unknownProcess(processName);
      const status = statusToWire(snapshot, host.find('installs')?.progress(processName));
      if (health === undefined) return status;
      return { ...status, ...healthToWire(snapshot, health, host.find('process.restarts')?.report(processName)) };
    },
  });

  host.route({
    method: 'GET',
    path: '/process/service-statuses',
    summary: 'The live status of every process but the host itself, with its health, restarts and process id',
    response: statusListSchema,
    handle() {
      const restarts = host.find('process.restarts');
      const services = supervisor.list().filter(({ isHost }) => !isHost);
      const processes = services.map(snapshot => {
        const { processName, enabled, pid, startedAt, waitingFor } = snapshot;
        return {
          ...statusToWire(snapshot, host.find('installs')?.progress(processName)),
          enabled,
          pid,
          started_at: startedAt,
          waiting_for: [...waitingFor],
          ...healthToWire(snapshot, supervisor.health(processName), restarts?.report(processName)),
        };
      });
      return { processes };
    },
  });

  host.route({
    method: 'GET',
    path: '/process/capabilities',
    summary: 'Capability flags, true when what they stand for is loaded',
    response: z.record(z.string(), z.boolean()),
    handle: () => host.capabilities(),
  });

  host.route({
    method: 'GET',
    path: '/process/startup-status',
    summary: 'The phase of the start and what became of each expected service',
    capability: 'startup_lifecycle',
    response: startupSchema,
    handle: () => startupToWire(host, supervisor),
  });
}
