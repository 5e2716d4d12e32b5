// The HTML document of the page. It names the script and the style sheet, and its policy allows nothing else.
import type { ConsoleDocument } from './contract.ts';
import type { PageFiles } from './page-files.ts';

/** Lets the browser load and run only the two files, and never parse a text as HTML. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%232563eb' d='M2 2h12v3H2zM2 7h12v3H2zM2 12h12v2H2z'/%3E%3C/svg%3E";

export function consoleDocument({ script, style }: PageFiles, routesAt: string): ConsoleDocument {
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<title>Stackwarden</title>',
    `<link rel="icon" href="${ICON}">`,
    `<link rel="stylesheet" href="${routesAt}console/${style.name}">`,
    `<script type="module" src="${routesAt}console/${script.name}"></script>`,
    '</head>',
    '<body><noscript>This page needs JavaScript. The command <code>stackwarden</code> does without.</noscript></body>',
    '</html>',
    '',
  ].join('\n');
  return {
    html,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': POLICY,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    },
  };
}
