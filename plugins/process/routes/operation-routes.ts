// The routes that start, stop, restart and feed a process. Operations continue when the client disconnects.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Host, NamedBlock } from '#core';
import { doneOrLate } from '#kit/deadline';
import { requestedBlock } from '#kit/requested-block';
import type { ProcessSupervisor } from '../contract.ts';

const START_PATIENCE_MS = 300_000;
const MAX_INPUT_CHARACTERS = 65_536;
/** Long enough for an answer to reach the browser through the process that is about to be stopped. */
const ANSWER_MS = 200;
/** Recorded as the user of a request when authentication is off. */
const ANONYMOUS_USER = 'user';
const STARTED = {
  started: 'Service started successfully',
  'already-running': 'Service is already running',
};
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

type Answer = z.input<typeof operationAnswer>;

export function registerOperationRoutes(host: Host, supervisor: ProcessSupervisor): void {
  const find = (name: string): NamedBlock => requestedBlock(host.use('config.store'), name);
  const stopPolicies = host.contributions('process.stop-policy');

  /**
   * Whether the answer goes before the stop: a process that forwards the request would otherwise end before it could
   * forward the answer, also while its start is still observed.
   */
  const answersFirst = ({ processName, configKey }: NamedBlock): boolean => {
    const policy = [...stopPolicies.values()].find(candidate => candidate.configKey === configKey);
    const { status, held } = supervisor.get(processName) ?? {};
    return policy?.answersFirst === true && (status === 'running' || status === 'starting') && held === null;
  };

  /**
   * Does `work`, which takes the process down, and gives its answer. Where the answer goes before the work, it is
   * `underWay`, and errors of the work are logged, because the request is over.
   */
  const takeDown = async (
    block: NamedBlock,
    underWay: string,
    work: (processName: string) => Promise<Answer>,
  ): Promise<Answer> => {
    const { processName } = block;
    if (!answersFirst(block)) return work(processName);
    delay(host.paced(ANSWER_MS), undefined, { signal: host.signal })
      .then(() => work(processName))
      .catch((error: unknown) => {
        if (!host.signal.aborted) host.log.error(`the request to stop ${processName} failed after its answer`, error);
      });
    return { status: underWay, process_name: processName };
  };

  /**
   * The answer to a start of a process. When the start takes longer than a client waits, the answer has what the start
   * waits for.
   */
  const startAnswer = async (processName: string, start: Promise<string>): Promise<Answer> => {
    // The supervisor logs why a start fails later, and the status of the process has the reason.
    const status = await doneOrLate(start, host.paced(START_PATIENCE_MS));
    if (status !== undefined) return { status, process_name: processName };
    return {
      status: 'Service start is waiting for dependencies',
      process_name: processName,
      waiting_for: [...(supervisor.get(processName)?.waitingFor ?? [])],
    };
  };

  host.route({
    method: 'POST',
    path: '/process/start-service',
    summary: 'Starts a process and answers when it runs',
    body: nameBody,
    response: operationAnswer,
    handle({ body, identity }) {
      const { processName } = find(body.process_name);
      const start = supervisor.start(processName, 'request', identity.username ?? ANONYMOUS_USER);
      return startAnswer(
        processName,
        start.then(({ status }) => STARTED[status]),
      );
    },
  });

  host.route({
    method: 'POST',
    path: '/process/stop-service',
    summary: 'Stops a process and all that it started',
    body: nameBody,
    response: operationAnswer,
    handle: ({ body, identity }) =>
      takeDown(find(body.process_name), 'Service is being stopped', async name => {
        const outcome = await supervisor.stop(name, identity.username ?? ANONYMOUS_USER);
        return { status: STOPPED[outcome], process_name: name };
      }),
  });

  host.route({
    method: 'POST',
    path: '/process/restart-service',
    summary: 'Stops a process if it runs, and starts it',
    body: nameBody,
    response: operationAnswer,
    handle: ({ body, identity }) =>
      takeDown(find(body.process_name), 'Service is being restarted', name => {
        const restart = supervisor.restart(name, 'restart', identity.username ?? ANONYMOUS_USER);
        return startAnswer(
          name,
          restart.then(() => 'Service restarted successfully'),
        );
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
