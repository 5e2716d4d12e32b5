// The start of the services as clients see it: its phase, and what became of each expected service.
import { z } from 'zod';
import type { Host } from '#core';
import type {} from '../../installs/contract.ts';
import type { ProcessSupervisor } from '../contract.ts';
import { installToWire } from './status-wire.ts';

export const startupSchema = z.lazy(() =>
  z.object({
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
);

export function startupToWire(host: Host, supervisor: ProcessSupervisor): z.output<typeof startupSchema> {
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
    expected_services: [...report.expectedServices],
    services: Object.fromEntries(services),
    failures: report.failures,
    critical_chain: report.criticalChain.map(({ processName, waitedFor, waitedMs, startMs }) => ({
      process_name: processName,
      waited_for: waitedFor,
      waited_seconds: seconds(waitedMs),
      start_seconds: seconds(startMs),
    })),
  };
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
