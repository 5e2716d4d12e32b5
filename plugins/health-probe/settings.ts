// The key of a process block that says where its health is asked for.
import { z } from 'zod';

/** Without defaults, because an editor in a browser would write them into the block. */
export const healthBlock = z.looseObject({
  health: z
    .looseObject({
      path: z.string().startsWith('/').describe('path of the address'),
      port: z.number().int().min(1).max(65_535).optional().describe('default: the port of the block'),
    })
    .optional()
    .meta({ fallback: true })
    .describe('an address that answers 2xx while the service is well'),
});
