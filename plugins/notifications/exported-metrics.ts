// The Prometheus metrics of notifications.
import type { ExportedMetrics } from '../prometheus/contract.ts';
import type { Deliveries } from './deliveries.ts';

export function deliveryMetrics(deliveries: Deliveries): ExportedMetrics {
  return {
    families: () => [
      {
        name: 'notification_attempts',
        help: 'Attempts to deliver a notification since the start, by their outcome.',
        type: 'counter',
        samples: Object.entries(deliveries.attempts).map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
      {
        name: 'notifications_in_flight',
        help: 'Deliveries that are being made.',
        type: 'gauge',
        samples: [{ value: deliveries.inFlight().length }],
      },
    ],
  };
}
