// The documentation pages: an explorer that sends requests and a read-only view. All their links are relative.
import type { Asset } from './assets.ts';

export interface DocumentationPage {
  readonly path: string;
  readonly title: string;
  readonly html: string;
  readonly headers: Record<string, string>;
  readonly assets: Readonly<Record<string, Asset>>;
}

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';

/** The view writes inline styles at run time. Scripts are loaded from files only. */
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

export const explorerPage = createPage({ path: '/docs', title: 'Stackwarden API explorer', sendsRequests: true });
export const referencePage = createPage({ path: '/scalar', title: 'Stackwarden API reference', sendsRequests: false });

interface PageOptions {
  readonly path: string;
  readonly title: string;
  readonly sendsRequests: boolean;
}

function createPage({ path, title, sendsRequests }: PageOptions): DocumentationPage {
  const folder = path.slice(1);
  return {
    path,
    title,
    headers: HEADERS,
    html: buildHtml(title, [`${folder}/standalone.js`, `${folder}/start.js`]),
    assets: {
      'standalone.js': { file: scriptOfView, type: SCRIPT_TYPE },
      'start.js': { text: buildStart(path, sendsRequests), type: SCRIPT_TYPE },
    },
  };
}

/** The package is located but not imported, because it is large and its script is for browsers. */
function scriptOfView(): URL {
  return new URL('js/standalone.js', import.meta.resolve('@scalar/fastify-api-reference'));
}

/**
 * The API description lies one level above the script, and requests go to the address of the page. Both thus work below
 * any path prefix that a proxy adds.
 */
function buildStart(path: string, sendsRequests: boolean): string {
  return `const description = new URL('../openapi.json', document.currentScript.src).href;
const prefix = location.pathname.slice(0, location.pathname.lastIndexOf('${path}'));
Scalar.createApiReference('#content', {
  url: description,
  servers: [{ url: location.origin + prefix }],
  proxyUrl: '',
  hideTestRequestButton: ${!sendsRequests},
  hideClientButton: true,
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});
`;
}

function buildHtml(title: string, scripts: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<link rel="icon" href="data:,">',
    `<title>${title}</title>`,
    '</head>',
    '<body>',
    '<div id="content"></div>',
    ...scripts.map(source => `<script src="${source}"></script>`),
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
