// The keys of a process block that say when the service is ready, and when it no longer lives.
import { z } from 'zod';
import type { OwnPorts } from '../process/contract.ts';

const seconds = z.number().min(0.1).max(86_400);
const word = z.string().refine(value => !value.includes('\0'), 'it must not hold a NUL character');
const port = z.number().int().min(1).max(65_535);

const timing = {
  initial_delay_seconds: z.number().min(0).max(86_400).optional().describe('pause before the first look; default 0'),
  interval_seconds: seconds
    .optional()
    .describe('pause between two looks, and the longest one before it is ready for the first time; default 10'),
  timeout_seconds: seconds.optional().describe('how long a look may take; default 5'),
  failure_threshold: z.number().int().min(1).optional().describe('failures in a row that count; default 3'),
};

const ways = {
  http: z
    .looseObject({
      path: z.string().startsWith('/').describe('path of the address on this machine'),
      port: port.optional().describe('default: the port of the block'),
    })
    .optional()
    .describe('an address that answers with a status below 400'),
  tcp: z
    .looseObject({ port: port.optional().describe('default: the port of the block') })
    .optional()
    .describe('a port that accepts connections'),
  exec: z
    .union([
      word.min(1),
      z
        .array(word)
        .min(1)
        .refine(([program]) => program !== '', 'it names no program'),
    ])
    .optional()
    .describe('a command that ends with exit code 0, run as the user of the service; a text is run by sh'),
};

const ONE_WAY = 'it needs exactly one way to look: http, tcp, exec or, for readiness, log';

const readiness = z
  .looseObject({
    ...ways,
    log: z.string().min(1).optional().describe('a text that a line of its output must contain once'),
    ...timing,
    success_threshold: z.number().int().min(1).optional().describe('successes in a row that count; default 1'),
  })
  .refine(({ http, tcp, exec, log }) => isOne([http, tcp, exec, log]), ONE_WAY);

const liveness = z
  .looseObject({ ...ways, ...timing })
  .refine(({ http, tcp, exec }) => isOne([http, tcp, exec]), ONE_WAY);

/** A probe may be a command, which runs as the user of the service. */
const PROBE = { live: true, fallback: true, decidesProgram: true };

/** Without defaults, because an editor in a browser would write them into the block. */
export const probesBlock = z.looseObject({
  readiness: readiness
    .optional()
    .meta(PROBE)
    .describe(
      'how it is found out that the service is ready; until then what needs it waits, and its health is starting',
    ),
  liveness: liveness
    .optional()
    .meta(PROBE)
    .describe('how it is found out that the service lives; when this fails it is restarted'),
});

/** Where a probe can name the port of its block. */
export const ownPorts: OwnPorts = {
  members: ['readiness', 'liveness'].flatMap(key => ['http', 'tcp'].map(way => [key, way, 'port'])),
};

export type ReadinessKey = z.output<typeof readiness>;
export type LivenessKey = z.output<typeof liveness>;

export interface Timing {
  readonly initialDelayMs: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
}

export function timingOf(key: LivenessKey & { readonly success_threshold?: number | undefined }): Timing {
  return {
    initialDelayMs: (key.initial_delay_seconds ?? 0) * 1_000,
    intervalMs: (key.interval_seconds ?? 10) * 1_000,
    timeoutMs: (key.timeout_seconds ?? 5) * 1_000,
    failureThreshold: key.failure_threshold ?? 3,
    successThreshold: key.success_threshold ?? 1,
  };
}

function isOne(ways: readonly unknown[]): boolean {
  return ways.filter(way => way !== undefined).length === 1;
}
