// Metrics of automatic restarts, for the exporter.
import type { ProcessSupervisor } from '../process/contract.ts';
import type { ExportedMetrics } from '../prometheus/contract.ts';
import type { ProcessRestarts, RestartReport } from './contract.ts';

export function restartMetrics(supervisor: ProcessSupervisor, restarts: ProcessRestarts): ExportedMetrics {
  return {
    families() {
      const names = supervisor.list().flatMap(({ isHost, processName }) => (isHost ? [] : [processName]));
      const counter = (name: string, help: string, value: (report: RestartReport) => number) => {
        const samples = names.map(process => ({ labels: { process }, value: value(restarts.report(process)) }));
        return { name, help, type: 'counter', samples } as const;
      };
      return [
        counter('process_restarts', 'Automatic restarts that were tried.', ({ attempts }) => attempts),
        counter('process_restart_failures', 'Automatic restarts that failed.', ({ failures }) => failures),
      ];
    },
  };
}
