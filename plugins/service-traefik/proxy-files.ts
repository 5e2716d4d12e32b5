// Generates the files of the reverse proxy: its static configuration and the routes of web interfaces.
import path from 'node:path';
import { stringify } from 'yaml';
import type { NamedBlock } from '#core';
import { urlHost } from '#kit/client-host';
import { GuardedDirectory } from '#kit/guarded-directory';
import { parseLevel } from '#kit/log-level';
import type { ServiceFileAccess } from '../config-files/contract.ts';
import type { ServiceUi } from '../service-ui/contract.ts';
import { ENTRY_POINTS, webAddress } from './web-address.ts';

type Values = Record<string, unknown>;

export interface ProxyPlace {
  readonly configDir: string;
  readonly configFile: string;
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  readonly block: NamedBlock;
  /** Writes only to permitted files of services. */
  readonly files: ServiceFileAccess;
}

export function routesFile({ configDir }: Pick<ProxyPlace, 'configDir'>): string {
  return path.join(configDir, 'dynamic', 'services.yaml');
}

/** Writes the file only when its content changes, and removes the files of earlier releases. */
export async function writeRoutes(place: ProxyPlace, uis: readonly ServiceUi[]): Promise<void> {
  const text = stringify(routes(uis), { lineWidth: 0 });
  await place.files.write(place.block, routesFile(place), text, { mode: 0o644, owner: place.owner });
  for (const name of ['services.json', 'services.yaml'])
    await GuardedDirectory.remove(path.join(place.configDir, name));
}

/** The static configuration follows the proxy's block; the dashboard uses the port after the web port. */
export async function writeStatic(place: ProxyPlace, adminUrl: string | null): Promise<void> {
  const { block } = place.block;
  const { address, port } = webAddress(block);
  const points = (block[ENTRY_POINTS] ?? {}) as Record<string, Values>;
  const text = stringify(
    {
      entryPoints: {
        ...points,
        web: { ...points.web, address },
        traefik: { address: `127.0.0.1:${port + 1}` },
      },
      api: { dashboard: true, insecure: true },
      log: { level: levelOf(block.log_level) },
      accessLog: { format: 'json' },
      providers: {
        file: { directory: path.dirname(routesFile(place)), watch: true },
        ...(adminUrl === null ? {} : { http: { endpoint: adminUrl, pollInterval: '10s' } }),
      },
    },
    { lineWidth: 0 },
  );
  await place.files.write(place.block, place.configFile, text, { mode: 0o644, owner: place.owner });
}

/** Traefik's word for a level: two differ, and for an unknown one Traefik would use ERROR. */
function levelOf(level: unknown): string {
  const known = parseLevel(String(level ?? ''));
  return known === 'WARNING' ? 'WARN' : known === 'CRITICAL' ? 'FATAL' : known;
}

/** Routers, services and middlewares. They contain only sanitized names and checked hosts and ports. */
function routes(uis: readonly ServiceUi[]): Values {
  const routers: Values = {};
  const services: Values = {};
  const middlewares: Values = {
    ui_frame_headers: {
      headers: { customFrameOptionsValue: 'SAMEORIGIN', contentSecurityPolicy: "frame-ancestors 'self'" },
    },
  };
  for (const ui of uis) {
    const { name, entryPath, internalTarget } = ui;
    const prefix = `/service/ui/${name}`;
    const service = internalTarget ?? `${name}_service`;
    const chain = [`${name}_strip`, ...(entryPath === '' ? [] : [`${name}_replace`]), 'ui_frame_headers'];
    routers[`${name}_router`] = {
      entryPoints: ['web'],
      rule: `Path(\`${prefix}\`) || PathPrefix(\`${prefix}/\`)`,
      service,
      middlewares: chain,
      ...(internalTarget === undefined ? {} : { priority: 1 }),
    };
    middlewares[`${name}_strip`] = { stripPrefix: { prefixes: [prefix] } };
    if (entryPath !== '')
      middlewares[`${name}_replace`] = { replacePathRegex: { regex: '^/?$', replacement: entryPath } };
    if (internalTarget === undefined) {
      services[service] = { loadBalancer: { servers: [{ url: `http://${urlHost(ui.host)}:${ui.port}` }] } };
    } else addProxyRouters(name, prefix, service, routers);
    if (ui.pathPrefix !== undefined) addMediaServer(ui, prefix, chain, routers, middlewares);
    if (ui.asksBelowRoot) {
      routers[`${name}_referer_router`] = {
        entryPoints: ['web'],
        rule: `HeaderRegexp(\`Referer\`, \`/ui/${name}\`) && !PathPrefix(\`/service/ui/\`)`,
        service,
        middlewares: ['ui_frame_headers'],
        priority: 2000,
      };
    }
  }
  return { http: { routers, ...(uis.length === 0 ? {} : { services, middlewares }) } };
}

/** The proxy's dashboard calls its API and loads its assets at the root. */
function addProxyRouters(name: string, prefix: string, service: string, routers: Values): void {
  for (const [part, priority] of [
    ['api', 1000],
    ['dashboard', 900],
    ['assets', 1000],
  ] as const) {
    routers[`${name}_${part}_router`] = {
      entryPoints: ['web'],
      rule: `PathPrefix(\`/${part}\`) || PathPrefix(\`${prefix}/${part}\`)`,
      service,
      middlewares: [`${name}_strip`, 'ui_frame_headers'],
      priority,
    };
  }
}

/** Media servers serve their interface below a folder, although their pages refer to it without that folder. */
function addMediaServer(ui: ServiceUi, prefix: string, chain: string[], routers: Values, middlewares: Values): void {
  const { name, pathPrefix = '', foldersBelowPrefix } = ui;
  middlewares[`${name}_index_redirect`] = {
    replacePathRegex: { regex: '^/index\\.html$', replacement: `${pathPrefix}/index.html` },
  };
  middlewares[`${name}_web_dirs`] = {
    replacePathRegex: { regex: `^/(${foldersBelowPrefix.join('|')})(/.*)?$`, replacement: `${pathPrefix}/$1$2` },
  };
  const router = routers[`${name}_router`] as Values;
  const [strip = '', ...rest] = chain;
  router.middlewares = [strip, `${name}_index_redirect`, `${name}_web_dirs`, ...rest];
  router.rule = `Path(\`${prefix}\`) || PathPrefix(\`${prefix}/\`)`;
}
