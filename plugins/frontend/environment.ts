// How the web frontend is told where this service and the reverse proxy are.
import type { LaunchPlan } from '../process/contract.ts';

const FRONTEND_KEY = 'dumb_frontend';
const DEFAULT_PROXY_PORT = 18_080;
const WILDCARDS = new Set(['0.0.0.0', '::', '[::]', '']);

/** What the block's own `env` says stays. Both spellings of each name are read by frontends in use. */
export function addFrontendEnvironment(plan: LaunchPlan, config: { get(path: string): unknown }): LaunchPlan {
  if (plan.configKey !== FRONTEND_KEY) return plan;
  const api = addressOf(config.get('dumb.api_service.host'), config.get('dumb.api_service.port') ?? 8_000);
  const proxy = addressOf('127.0.0.1', config.get('traefik.port') ?? DEFAULT_PROXY_PORT);
  const given = {
    HOST: String(plan.block.host ?? '0.0.0.0'),
    PORT: String(plan.block.port ?? 3_005),
    DUMB_API_URL: api,
    DMB_API_URL: api,
    DUMB_TRAEFIK_URL: proxy,
    DMB_TRAEFIK_URL: proxy,
  };
  const own = (plan.block.env ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(given)) if (!Object.hasOwn(own, name)) plan.env[name] = value;
  return plan;
}

function addressOf(host: unknown, port: unknown): string {
  const name = typeof host === 'string' && !WILDCARDS.has(host) ? host : '127.0.0.1';
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
