// The routes that start, stop, restart and feed a process. Operations continue when the client disconnects.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Host, NamedBlock } from '#core';
import { requestedBlock } from '#kit/requested-block';
import type { ProcessSupervisor, StartOutcome } from '../contract.ts';

const START_PATIENCE_MS = 300_000;
const MAX_INPUT_CHARACTERS = 65_536;
/** Long enough for an answer to reach the browser through the process that is about to be stopped. */
const ANSWER_MS = 200;
/** Recorded as the user of a request when authentication is off. */
const ANONYMOUS_USER = 'user';
const STOPPED = {
  stopped: 'Service stopped successfully',
  'not-running': 'Service was not running',
  'already-stopping': 'Shutdown already in progress',
};

const nameBody = z.object({ process_name: z.string() });
const operationAnswer = z.object({
  status: z.string().describe('a sentence'),
  process_name: z.string(),
  waiting_for: z.array(z.string()).optional(),
});

export function registerOperationRoutes(host: Host, supervisor: ProcessSupervisor): void {
  const find = (name: string): NamedBlock => requestedBlock(host.use('config.store'), name);
  const stopPolicies = host.contributions('process.stop-policy');

  /**
   * Whether the process is stopped after the answer: what handed the request on would otherwise end before it could hand
   * on the answer, also while its start is still observed.
   */
  const answersFirst = ({ processName, configKey }: NamedBlock): boolean => {
    const policy = [...stopPolicies.values()].find(candidate => candidate.configKey === configKey);
    const { status, held } = supervisor.get(processName) ?? {};
    return policy?.answersFirst === true && (status === 'running' || status === 'starting') && held === null;
  };

  /**
   * Does what takes the process down and answers what it gives; `underWay` is the answer where that goes first. What the
   * work throws is logged then, because nobody is left to be told.
   */
  const takeDown = async (
    block: NamedBlock,
    underWay: string,
    work: (processName: string) => Promise<string>,
  ): Promise<z.input<typeof operationAnswer>> => {
    const { processName } = block;
    if (!answersFirst(block)) return { status: await work(processName), process_name: processName };
    delay(host.paced(ANSWER_MS), undefined, { signal: host.signal })
      .then(() => work(processName))
      .catch((error: unknown) => {
        if (!host.signal.aborted) host.log.error(`the request to stop ${processName} failed after its answer`, error);
      });
    return { status: underWay, process_name: processName };
  };

  host.route({
    method: 'POST',
    path: '/process/start-service',
    summary: 'Starts a process and answers when it runs',
    body: nameBody,
    response: operationAnswer,
    async handle({ body, identity }) {
      const { processName } = find(body.process_name);
      const start = supervisor.start(processName, 'request', identity.username ?? ANONYMOUS_USER);
      const outcome = await Promise.race([start, outOfPatience(supervisor, processName)]);
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
    handle: ({ body, identity }) =>
      takeDown(
        find(body.process_name),
        'Service is being stopped',
        async name => STOPPED[await supervisor.stop(name, identity.username ?? ANONYMOUS_USER)],
      ),
  });

  host.route({
    method: 'POST',
    path: '/process/restart-service',
    summary: 'Stops a process if it runs, and starts it',
    body: nameBody,
    response: operationAnswer,
    handle: ({ body, identity }) =>
      takeDown(find(body.process_name), 'Service is being restarted', async name => {
        await supervisor.restart(name, 'restart', identity.username ?? ANONYMOUS_USER);
        return 'Service restarted successfully';
      }),
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
}

/** What is answered when the start takes longer than a client waits. */
async function outOfPatience(supervisor: ProcessSupervisor, processName: string): Promise<StartOutcome> {
  await new Promise(resolve => setTimeout(resolve, START_PATIENCE_MS).unref());
  return { status: 'waiting', waitingFor: supervisor.get(processName)?.waitingFor ?? [] };
}
