// Numbers about the host process itself: memory, processor time and event loop.
import { performance } from 'node:perf_hooks';
import type { ExportedMetrics } from './contract.ts';

const MICROSECONDS = 1e6;
const MS_PER_S = 1_000;

export const hostMetrics: ExportedMetrics = {
  families() {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const { active, idle } = performance.eventLoopUtilization();
    const gauge = (name: string, help: string, value: number) =>
      ({ name, help, type: 'gauge', samples: [{ value }] }) as const;
    const seconds = (name: string, help: string, value: number) =>
      ({ name, help, type: 'counter', samples: [{ value }] }) as const;
    return [
      gauge('host_uptime_seconds', 'Time since the start of the host.', process.uptime()),
      gauge('host_memory_bytes', 'Resident memory of the host.', rss),
      gauge('host_heap_bytes', 'Memory of the objects in the JavaScript heap of the host.', heapUsed),
      seconds('host_cpu_seconds', 'Processor time of the host.', (user + system) / MICROSECONDS),
      seconds('event_loop_active_seconds', 'Time in which the event loop worked.', active / MS_PER_S),
      seconds('event_loop_idle_seconds', 'Time in which the event loop waited.', idle / MS_PER_S),
    ];
  },
};
