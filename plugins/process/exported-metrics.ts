// What the exporter tells of managed processes.
import type { ExportedMetrics, MetricSample } from '../prometheus/contract.ts';
import type { ProcessSnapshot, ProcessSupervisor } from './contract.ts';

const MS_PER_S = 1_000;

export function processMetrics(supervisor: ProcessSupervisor): ExportedMetrics {
  return {
    families() {
      const processes = supervisor.list().filter(({ isHost }) => !isHost);
      const samples = (value: (snapshot: ProcessSnapshot) => number | null): MetricSample[] =>
        processes.map(snapshot => ({ labels: { process: snapshot.processName }, value: value(snapshot) }));
      const gauge = (name: string, help: string, value: (snapshot: ProcessSnapshot) => number | null) =>
        ({ name, help, type: 'gauge', samples: samples(value) }) as const;
      return [
        gauge('process_up', 'Whether the process runs.', ({ status }) => Number(status === 'running')),
        gauge('process_enabled', 'Whether the process is to run.', ({ enabled }) => Number(enabled)),
        gauge('process_healthy', 'Whether the last look found it healthy.', ({ processName }) =>
          numberOf(supervisor.health(processName).healthy),
        ),
        gauge('process_uptime_seconds', 'Time since the launch.', ({ startedMonotonicMs }) =>
          startedMonotonicMs === null ? null : (performance.now() - startedMonotonicMs) / MS_PER_S,
        ),
        {
          name: 'output_lost',
          help: 'Whether what running processes write is lost at present, as on a full disk.',
          type: 'gauge',
          samples: [{ value: Number(supervisor.outputFault !== null) }],
        },
      ];
    },
  };
}

function numberOf(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
