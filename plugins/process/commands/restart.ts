// `stackwarden restart NAME`: stops services that run, and starts them.
import { isUp, operationCommand } from '../client/operation.ts';

export default operationCommand({
  name: 'restart',
  summary: 'restart services',
  all: { description: 'all services that run', includes: ({ status }) => status !== 'stopped' },
  isReversed: false,
  outcome: isUp,
});
