// Metrics of supervised processes and of their output, for the exporter.
import type { ExportedMetrics, MetricSample } from '../prometheus/contract.ts';
import type { SpoolFigures } from './capture/capture.ts';
import type { ProcessSnapshot, ProcessSupervisor } from './contract.ts';

const MS_PER_S = 1_000;

const single = (name: string, type: 'gauge' | 'counter', help: string, value: number) =>
  ({ name, help, type, samples: [{ value }] }) as const;

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
        gauge('process_healthy', 'Whether the last probe found the process healthy.', ({ processName }) =>
          numberOf(supervisor.health(processName).healthy),
        ),
        gauge('process_uptime_seconds', 'Time since the launch.', ({ startedAt }) =>
          startedAt === null ? null : Math.max(0, Date.now() / MS_PER_S - startedAt),
        ),
        single(
          'output_lost',
          'gauge',
          'Whether what running processes write is lost at present, as on a full disk.',
          Number(supervisor.outputFault !== null),
        ),
      ];
    },
  };
}

function numberOf(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}

/** Separate from `processMetrics`, which must answer even while the disk of the spools hangs. */
export function spoolMetrics(figures: () => Promise<SpoolFigures>): ExportedMetrics {
  return {
    async families() {
      const { files, waitingBytes, readBytes, readLines } = await figures();
      return [
        single('spool_files', 'gauge', 'Spool files to which running processes write their output.', files),
        single('spool_waiting_bytes', 'gauge', 'Bytes of output that are not in the logs yet.', waitingBytes),
        single('spool_read_bytes', 'counter', 'Output that was taken into the logs.', readBytes),
        single('spool_read_lines', 'counter', 'Lines that were taken into the logs.', readLines),
      ];
    },
  };
}
