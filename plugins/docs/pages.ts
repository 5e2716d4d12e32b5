// The two documentation pages: an explorer that can send requests, and a read-only view; all names in them are relative.
import type { Asset } from './assets.ts';

export interface DocumentationPage {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly headers: Record<string, string>;
  readonly assets: Readonly<Record<string, Asset>>;
}

/** Only located, never imported: the packages are large and their files are for browsers. */
const swagger = import.meta.resolve('swagger-ui-dist/package.json');
const scalar = import.meta.resolve('@scalar/fastify-api-reference');

const script = 'text/javascript; charset=utf-8';
const style = 'text/css; charset=utf-8';

/** Both views write styles at run time; scripts come from files alone. */
const headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; '),
};

/** The description lies one level above the script, below whatever path prefix a proxy adds. */
const description = `new URL('../openapi.json', document.currentScript.src).href`;

export const explorerPage: DocumentationPage = {
  path: '/docs',
  title: 'Stackwarden API explorer',
  headers,
  html: page('Stackwarden API explorer', 'docs/swagger-ui.css', ['docs/swagger-ui-bundle.js', 'docs/start.js']),
  assets: {
    'swagger-ui.css': { file: new URL('swagger-ui.css', swagger), type: style },
    'swagger-ui-bundle.js': { file: new URL('swagger-ui-bundle.js', swagger), type: script },
    'start.js': {
      type: script,
      text: `SwaggerUIBundle({
  url: ${description},
  dom_id: '#content',
  deepLinking: true,
  docExpansion: 'list',
  validatorUrl: null,
});
`,
    },
  },
};

export const referencePage: DocumentationPage = {
  path: '/scalar',
  title: 'Stackwarden API reference',
  headers,
  html: page('Stackwarden API reference', undefined, ['scalar/standalone.js', 'scalar/start.js']),
  assets: {
    'standalone.js': { file: new URL('js/standalone.js', scalar), type: script },
    'start.js': {
      type: script,
      text: `Scalar.createApiReference('#content', {
  url: ${description},
  hideTestRequestButton: true,
  hideClientButton: true,
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});
`,
    },
  },
};

function page(title: string, stylesheet: string | undefined, scripts: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<link rel="icon" href="data:,">',
    `<title>${title}</title>`,
    ...(stylesheet === undefined ? [] : [`<link rel="stylesheet" href="${stylesheet}">`]),
    '</head>',
    '<body>',
    '<div id="content"></div>',
    ...scripts.map(source => `<script src="${source}"></script>`),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
