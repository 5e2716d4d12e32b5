// Process control over HTTP. Operations continue when the client disconnects.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Host, type NamedBlock, Problem } from '#core';
import { queryBoolean } from '#kit/query-values';
import { requestedBlock } from '#kit/requested-block';
import { unknownProcess } from '#kit/unknown-process';
import type {} from '../../auto-restart/contract.ts';
import type { ProcessSupervisor, StartOutcome } from '../contract.ts';
import { ProcessEntries } from './entries.ts';
import { healthToWire, installToWire, statusListSchema, statusSchema, statusToWire } from './status-wire.ts';

const START_PATIENCE_MS = 300_000;
const FIRST_PROBE_MS = 3_000;
const MAX_INPUT_CHARACTERS = 65_536;
/** Long enough for an answer to reach the browser through the process that is about to be stopped. */
const ANSWER_MS = 200;

const nameBody = z.object({ process_name: z.string() });
const nameQuery = z.object({ process_name: z.string() });
const operationAnswer = z.object({
  status: z.string().describe('a sentence'),
  process_name: z.string(),
  waiting_for: z.array(z.string()).optional(),
});

/** Recorded as the user of a request when authentication is off. */
const ANONYMOUS_USER = 'user';

export function registerRoutes(host: Host, supervisor: ProcessSupervisor): void {
  const entries = new ProcessEntries(host, supervisor);
  const find = (name: string): NamedBlock => requestedBlock(host.use('config.store'), name);
  const stopPolicies = host.contributions('process.stop-policy');
  /**
   * Whether the work is left for after the answer: what handed the request on would otherwise end before it could hand on
   * the answer, also while its start is still observed. What the work throws then is logged.
   */
  const isDeferred = ({ processName, configKey }: NamedBlock, work: () => Promise<unknown>): boolean => {
    const policy = [...stopPolicies.values()].find(candidate => candidate.configKey === configKey);
    const { status, held } = supervisor.get(processName) ?? {};
    if (policy?.answersFirst !== true || !(status === 'running' || status === 'starting') || held !== null)
      return false;
    delay(host.paced(ANSWER_MS), undefined, { signal: host.signal })
      .then(work)
      .catch((error: unknown) => {
        if (!host.signal.aborted) host.log.error(`the request to stop ${processName} failed after its answer`, error);
      });
    return true;
  };

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
    query: z.object({ process_name: z.string(), scope: z.string().optional() }),
    get response() {
      return entries.detailSchema();
    },
    async handle({ query: { process_name: name, scope } }) {
      if (scope !== undefined && scope !== 'runtime' && scope !== 'all')
        throw new Problem(400, "scope must be 'runtime' or 'all'");
      return entries.detail(find(name).processName, scope);
    },
  });

  host.route({
    method: 'POST',
    path: '/process/start-service',
    summary: 'Starts a process and answers when it runs',
    body: nameBody,
    response: operationAnswer,
    async handle({ body, identity }) {
      const { processName } = find(body.process_name);
      const start = supervisor.start(processName, 'request', identity.username ?? ANONYMOUS_USER);
      const outcome = await Promise.race([start, patience(supervisor, processName)]);
      if (outcome.status === 'waiting') {
        // The supervisor logs why a start fails, and the status of the process tells it.
        start.catch(() => undefined);
        return {
          status: 'Service start is waiting for dependencies',
          process_name: processName,
          waiting_for: [...outcome.waitingFor],
        };
      }
      const status = outcome.status === 'started' ? 'Service started successfully' : 'Service is already running';
      return { status, process_name: processName };
    },
  });

  host.route({
    method: 'POST',
    path: '/process/stop-service',
    summary: 'Stops a process and all that it started',
    body: nameBody,
    response: operationAnswer,
    async handle({ body, identity }) {
      const block = find(body.process_name);
      const { processName } = block;
      const sentences = {
        stopped: 'Service stopped successfully',
        'not-running': 'Service was not running',
        'already-stopping': 'Shutdown already in progress',
      };
      const stop = () => supervisor.stop(processName, identity.username ?? ANONYMOUS_USER);
      if (isDeferred(block, stop)) return { status: 'Service is being stopped', process_name: processName };
      const outcome = await stop();
      return { status: sentences[outcome], process_name: processName };
    },
  });

  host.route({
    method: 'POST',
    path: '/process/restart-service',
    summary: 'Stops a process if it runs, and starts it',
    body: nameBody,
    response: operationAnswer,
    async handle({ body, identity }) {
      const block = find(body.process_name);
      const { processName } = block;
      const restart = () => supervisor.restart(processName, 'restart', identity.username ?? ANONYMOUS_USER);
      if (isDeferred(block, restart)) return { status: 'Service is being restarted', process_name: processName };
      await restart();
      return { status: 'Service restarted successfully', process_name: processName };
    },
  });

  host.route({
    method: 'POST',
    path: '/process/input',
    summary: 'Writes a text to the standard input of a process with stdin: true',
    body: nameBody.extend({
      text: z.string().max(MAX_INPUT_CHARACTERS).describe('as it is; most programs want a line break'),
    }),
    response: z.object({ process_name: z.string() }),
    async handle({ body }) {
      const { processName } = find(body.process_name);
      await supervisor.input(processName, body.text);
      return { process_name: processName };
    },
  });

  host.route({
    method: 'GET',
    path: '/process/service-status',
    summary: 'The live status of one process, with include_health also its health and restarts',
    query: nameQuery.extend({ include_health: queryBoolean().optional() }),
    response: statusSchema,
    async handle({ query }) {
      const { processName } = find(query.process_name);
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
          ...statusToWire(snapshot, host.find('installs')?.progress(snapshot.processName)),
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
    response: z.object({
      phase: z.string(),
      terminal: z.boolean(),
      started_at: z.number(),
      completed_at: z.number().nullable(),
      expected_services: z.array(z.string()),
      services: z.record(z.string(), z.record(z.string(), z.unknown())),
      failures: z.record(z.string(), z.string()),
      critical_chain: z
        .array(
          z.object({
            process_name: z.string(),
            waited_for: z.string().nullable(),
            waited_seconds: z.number(),
            start_seconds: z.number(),
          }),
        )
        .describe('who waited for whom, up to the service that was up last'),
    }),
    handle() {
      const report = supervisor.startup();
      const services = Object.entries(report.services).map(([name, { state, reason }]) => {
        const health = supervisor.health(name);
        const why = reason ?? (state === 'starting' ? health.reason : null);
        const install = installToWire(host.find('installs')?.progress(name));
        return [name, { state, reason: why, install, health_status: health.status, health_details: health.details }];
      });
      return {
        phase: report.phase,
        terminal: report.terminal,
        started_at: report.startedAt,
        completed_at: report.completedAt,
        expected_services: report.expectedServices,
        services: Object.fromEntries(services),
        failures: report.failures,
        critical_chain: report.criticalChain.map(({ processName, waitedFor, waitedMs, startMs }) => ({
          process_name: processName,
          waited_for: waitedFor,
          waited_seconds: seconds(waitedMs),
          start_seconds: seconds(startMs),
        })),
      };
    },
  });
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

async function patience(supervisor: ProcessSupervisor, processName: string): Promise<StartOutcome> {
  await new Promise(resolve => setTimeout(resolve, START_PATIENCE_MS).unref());
  return { status: 'waiting', waitingFor: supervisor.get(processName)?.waitingFor ?? [] };
}
