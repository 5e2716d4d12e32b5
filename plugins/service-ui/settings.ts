// Configuration of web interfaces: whether they are embedded, and where a service without a template has its interface.
import { z } from 'zod';

export const embeddingSection = z.looseObject({
  enabled: z
    .boolean()
    .default(false)
    .describe('web interfaces are embedded without a reverse proxy; with one its own enabled counts too'),
});

export const uiBlock = z.looseObject({
  ui: z
    .union([
      z.boolean(),
      z.looseObject({
        port_key: z.string().optional().describe('the key of this block that holds the port; default port'),
        path: z.string().startsWith('/').optional().describe('its landing page; default /'),
      }),
    ])
    .optional()
    .describe('its web interface, for services without a template; true: at its port'),
});
