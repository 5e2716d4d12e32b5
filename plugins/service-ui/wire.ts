// The wire form of the routes about embedded web interfaces.
import { z } from 'zod';
import type { ServiceUi } from './contract.ts';

const entry = z.lazy(() =>
  z.object({
    name: z.string().describe('route name'),
    process_name: z.string(),
    config_key: z.string(),
    port: z.number(),
    host: z.string(),
    path: z.string().describe('empty for an interface that forbids being framed'),
    entry_path: z.string(),
    public_url: z.string().optional(),
  }),
);

export const listAnswer = z.lazy(() =>
  z.object({
    enabled: z.boolean(),
    services: z.array(entry),
    proxy_config: z.string().describe('file of the generated routes'),
    traefik_config: z.string(),
  }),
);

export const switchBody = z.object({ enabled: z.boolean().default(true) });

export const switchAnswer = z.lazy(() =>
  listAnswer.unwrap().extend({
    proxy_state: z.enum(['starting', 'running', 'stopped', 'error']),
    proxy_error: z.string().nullable(),
    overridden: z.array(z.string()).describe('paths that were saved, and that the environment overrides'),
    warnings: z.array(z.string()).describe('those of the save, and what the proxy does not publish, and why'),
  }),
);

export function entryToWire(ui: ServiceUi): z.input<typeof entry> {
  return {
    name: ui.name,
    process_name: ui.processName,
    config_key: ui.kind,
    port: ui.port,
    host: ui.host,
    path: ui.frameable ? `/service/ui/${ui.name}` : '',
    entry_path: ui.entryPath,
    ...(ui.publicUrl === undefined ? {} : { public_url: ui.publicUrl }),
  };
}
