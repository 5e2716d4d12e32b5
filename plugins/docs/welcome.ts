// The answer at the root of the native listener: what answers here, and where to go. Browsers get a page, others JSON.

/** Paths of the listener, by what they lead to. */
export const PLACES = {
  documentation: '/docs',
  reference: '/scalar',
  description: '/openapi.json',
  health: '/health',
  processes: '/process/processes',
};

/** Links are relative, so that they work below a path prefix. */
export function welcomePage(): string {
  const links = Object.entries(PLACES).map(([what, place]) => `<li>${what}: <a href=".${place}">${place}</a></li>`);
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head><meta charset="utf-8"><link rel="icon" href="data:,"><title>Stackwarden</title></head>',
    '<body>',
    '<h1>Stackwarden</h1>',
    '<p>This is the API of a control plane for self-hosted media stacks. Web frontends use the gateway.</p>',
    `<ul>${links.join('')}</ul>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}
