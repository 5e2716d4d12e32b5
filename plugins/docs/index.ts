// API documentation on the native listener: the OpenAPI description and two views of it that load nothing external.
import { z } from 'zod';
import { type Answer, answer, definePlugin, type Host } from '#core';
import type {} from '../console/contract.ts';
import { loadAsset } from './assets.ts';
import { explorerPage, referencePage } from './pages.ts';
import { PLACES, welcomePage } from './welcome.ts';

/** Accepts any members, because an OpenAPI document has many forms. */
const description = z.record(z.string(), z.unknown()).describe('an OpenAPI 3.1 document');
const section = z.looseObject({
  docs_enabled: z.boolean().default(true).describe('whether /docs, /scalar and /openapi.json are served'),
});
/** A file as it is, or the API description, which a page may ask for below its own path. */
const assetAnswer = z.union([z.string(), z.custom<Uint8Array>(value => value instanceof Uint8Array), description]);

const PAGE_ROUTE = { method: 'GET', access: 'public', nativeOnly: true, hidden: true } as const;

export default definePlugin({
  name: 'docs',
  host: '^1',

  setup(host) {
    host.contribute('config.schema', 'docs', { path: ['dumb', 'api_service'], schema: section });
    host.route({
      ...PAGE_ROUTE,
      hidden: false,
      path: '/openapi.json',
      summary: 'The description of every route, OpenAPI 3.1',
      response: description,
      handle: () => {
        requireDocsEnabled(host);
        return host.openapi();
      },
    });
    host.route({
      ...PAGE_ROUTE,
      path: '/',
      summary: 'What this is, and where to go',
      response: z.union([z.string(), z.looseObject({ name: z.string() })]),
      handle: ({ headers: { accept = '' } }) =>
        accept.includes('text/html') ? rootPage(host) : { name: 'Stackwarden', ...PLACES },
    });
    for (const page of [explorerPage, referencePage]) {
      host.route({
        ...PAGE_ROUTE,
        path: page.path,
        summary: page.title,
        response: z.string(),
        handle: () => {
          requireDocsEnabled(host);
          return answer(page.html, { headers: { ...page.headers, 'Content-Type': 'text/html; charset=utf-8' } });
        },
      });
      host.route({
        ...PAGE_ROUTE,
        path: `${page.path}/{file...}`,
        summary: `Assets of ${page.path}`,
        response: assetAnswer,
        handle: async ({ params }) => {
          requireDocsEnabled(host);
          // At `<path>/` the browser resolves the page's relative links one level deeper than at `<path>`.
          const file = (params.file ?? '').replace(`${page.path.slice(1)}/`, '');
          return file === 'openapi.json' ? host.openapi() : loadAsset(page.assets, file);
        },
      });
    }
  },
});

/** The console if a plugin provides it, otherwise a page with links. */
async function rootPage(host: Host): Promise<Answer<string>> {
  try {
    const page = await host.find('console.page')?.open('./');
    if (page !== undefined) return answer(page.html, { headers: { ...page.headers } });
  } catch {
    // The host has logged this fault of the console's plugin; the page with links is served instead.
  }
  return answer(welcomePage(), { headers: { 'Content-Type': 'text/html; charset=utf-8' } });
}

function requireDocsEnabled(host: Host): void {
  const isEnabled = host.find('config.store')?.get('dumb.api_service.docs_enabled') !== false;
  if (!isEnabled) throw new host.Problem(404, 'Not found');
}
