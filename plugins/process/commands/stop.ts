// `stackwarden stop NAME`: stops services, which stay stopped until they are started again.
import { operationCommand } from '../client/operation.ts';

export default operationCommand({
  name: 'stop',
  summary: 'stop services; they stay stopped until they are started again',
  all: { description: 'all services that run', includes: ({ status }) => status !== 'stopped' },
  isReversed: true,
  outcome: ({ status }) => (status === 'stopped' ? true : undefined),
});
