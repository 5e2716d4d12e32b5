// The two documentation pages: an explorer that sends requests and a read-only view. All their links are relative.
import type { Asset } from './assets.ts';

export interface DocumentationPage {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly headers: Record<string, string>;
  readonly assets: Readonly<Record<string, Asset>>;
}

/** The packages are located but not imported, because they are large and their files are for browsers. */
const SWAGGER_URL = import.meta.resolve('swagger-ui-dist/package.json');
const SCALAR_URL = import.meta.resolve('@scalar/fastify-api-reference');

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const STYLE_TYPE = 'text/css; charset=utf-8';

/** Both views write inline styles at run time. Scripts are loaded from files only. */
const HEADERS = {
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
const DESCRIPTION_URL = `new URL('../openapi.json', document.currentScript.src).href`;

export const explorerPage: DocumentationPage = {
  path: '/docs',
  title: 'Stackwarden API explorer',
  headers: HEADERS,
  html: buildPage('Stackwarden API explorer', 'docs/swagger-ui.css', ['docs/swagger-ui-bundle.js', 'docs/start.js']),
  assets: {
    'swagger-ui.css': { file: new URL('swagger-ui.css', SWAGGER_URL), type: STYLE_TYPE },
    'swagger-ui-bundle.js': { file: new URL('swagger-ui-bundle.js', SWAGGER_URL), type: SCRIPT_TYPE },
    'start.js': {
      type: SCRIPT_TYPE,
      text: `SwaggerUIBundle({
  url: ${DESCRIPTION_URL},
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
  headers: HEADERS,
  html: buildPage('Stackwarden API reference', undefined, ['scalar/standalone.js', 'scalar/start.js']),
  assets: {
    'standalone.js': { file: new URL('js/standalone.js', SCALAR_URL), type: SCRIPT_TYPE },
    'start.js': {
      type: SCRIPT_TYPE,
      text: `Scalar.createApiReference('#content', {
  url: ${DESCRIPTION_URL},
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

function buildPage(title: string, stylesheet: string | undefined, scripts: readonly string[]): string {
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
