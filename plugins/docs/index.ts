// Interactive documentation of the native listener: the API description and two views of it, without any outside asset.
import { z } from 'zod';
import { answer, definePlugin, type Host } from '#core';
import { loadAsset } from './assets.ts';
import { explorerPage, referencePage } from './pages.ts';

export default definePlugin({
  name: 'docs',
  host: '^1',

  setup(host) {
    host.contribute('config.schema', 'docs', { path: ['dumb', 'api_service'], schema: section });
    host.route({
      ...openPage,
      hidden: false,
      path: '/openapi.json',
      summary: 'The description of every route, OpenAPI 3.1',
      response: description,
      handle: () => {
        refuseWhenOff(host);
        return host.openapi();
      },
    });
    for (const page of [explorerPage, referencePage]) {
      host.route({
        ...openPage,
        path: page.path,
        summary: page.title,
        response: z.string(),
        handle: () => {
          refuseWhenOff(host);
          return answer(page.html, { headers: { ...page.headers, 'Content-Type': 'text/html; charset=utf-8' } });
        },
      });
      host.route({
        ...openPage,
        path: `${page.path}/{file...}`,
        summary: `Assets of ${page.path}`,
        response: assetAnswer,
        handle: async ({ params }) => {
          refuseWhenOff(host);
          // The page at `<path>/` resolves its relative names one level deeper than the page at `<path>`.
          const file = (params.file ?? '').replace(`${page.path.slice(1)}/`, '');
          return file === 'openapi.json' ? host.openapi() : loadAsset(page.assets, file);
        },
      });
    }
  },
});

/** Open: an OpenAPI document. */
const description = z.record(z.string(), z.unknown()).describe('an OpenAPI 3.1 document');
const section = z.looseObject({ docs_enabled: z.boolean().default(true) });
/** A file as it is, or the API description, which a page may ask for below its own path. */
const assetAnswer = z.union([z.string(), z.custom<Uint8Array>(value => value instanceof Uint8Array), description]);
const openPage = { method: 'GET', access: 'public', nativeOnly: true, hidden: true } as const;

function refuseWhenOff(host: Host): void {
  const isOn = host.find('config.store')?.get('dumb.api_service.docs_enabled') !== false;
  if (!isOn) throw new host.Problem(404, 'Not found');
}
