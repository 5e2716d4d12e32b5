// Numbers about the requests to the API.
import type { HttpRequests } from '#core';
import type { ExportedMetrics } from './contract.ts';

export function requestMetrics(requests: HttpRequests): ExportedMetrics {
  return {
    families() {
      const counts = requests.counts();
      return [
        {
          name: 'requests',
          help: 'Requests by the group of their route and the class of their status; cut: the client was gone first.',
          type: 'counter',
          samples: counts.flatMap(({ group, answers }) =>
            Object.entries(answers).map(([status, value]) => ({ labels: { group, status }, value })),
          ),
        },
        {
          name: 'request_seconds',
          help: 'Time that requests have taken, by the group of their route.',
          type: 'counter',
          samples: counts.map(({ group, seconds }) => ({ labels: { group }, value: seconds })),
        },
      ];
    },
  };
}
