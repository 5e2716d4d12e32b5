// `stackwarden start NAME`: starts services.
import { isUp, operationCommand } from '../client/operation.ts';

export default operationCommand({
  name: 'start',
  summary: 'start services',
  all: { description: 'all services that are enabled or were started by hand', includes: ({ enabled }) => enabled },
  isReversed: false,
  outcome: isUp,
});
