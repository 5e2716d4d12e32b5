// The console: one page that shows services, logs, metrics and plugins in a browser, over the routes and streams that
// every client has. The listener that answers at `/` opens it.
import { z } from 'zod';
import { answer, definePlugin, Problem } from '#core';
import type { ConsolePage } from './contract.ts';
import { consoleDocument } from './document.ts';
import type { PageFiles } from './page-files.ts';

const FOREVER = 'public, max-age=31536000, immutable';

export default definePlugin({
  name: 'console',
  host: '^1',

  setup(host) {
    let loading: Promise<PageFiles> | undefined;
    /** Loads the files when a browser first asks for them, and again after a failure. */
    const files = (): Promise<PageFiles> => {
      loading ??= import('./page-files.ts')
        .then(module => module.loadPageFiles())
        .catch((error: unknown) => {
          loading = undefined;
          throw error;
        });
      return loading;
    };
    const page: ConsolePage = { open: async routesAt => consoleDocument(await files(), routesAt) };
    host.provide('console.page', page);

    host.route({
      method: 'GET',
      path: '/console',
      access: 'public',
      hidden: true,
      summary: 'The console',
      response: z.string(),
      async handle() {
        const { html, headers } = await page.open('./');
        return answer(html, { headers: { ...headers } });
      },
    });
    host.route({
      method: 'GET',
      path: '/console/{file...}',
      access: 'public',
      hidden: true,
      compress: true,
      summary: 'The script and the style sheet of the console',
      response: z.custom<Uint8Array>(value => value instanceof Uint8Array),
      async handle({ params }) {
        // At `/console/` a browser resolves the relative names of the page one level deeper than at `/console`.
        const name = (params.file ?? '').replace('console/', '');
        const { script, style } = await files();
        const file = [script, style].find(candidate => candidate.name === name);
        if (file === undefined) throw new Problem(404, 'Not found');
        const headers = { 'Content-Type': file.type, 'Content-Encoding': 'gzip', 'Cache-Control': FOREVER };
        return answer(file.gzip, { headers });
      },
    });
  },
});
