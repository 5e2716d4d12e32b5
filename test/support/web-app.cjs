// A stand-in for a service's web interface: a page with assets, a form, a WebSocket, a redirect, a cookie, and a
// service worker that comes with what a service may say for its whole origin. Usage: web-app.cjs PORT
const { createServer } = require('node:http');
const { WebSocketServer } = require('ws');

const page = `<!doctype html><html><head><title>App</title>
<link rel="stylesheet" href="style.css"><script src="relative.js"></script><script src="/absolute.js"></script></head>
<body><p id="socket"></p>
<form method="post" action="save"><input name="word" value="hello"><button>Save</button></form>
<script>
  const socket = new WebSocket('ws' + location.href.replace(/^http/, '').replace(/[^/]*$/, '') + 'socket')
  socket.onopen = () => socket.send('ping')
  socket.onmessage = event => { document.getElementById('socket').textContent = event.data }
</script></body></html>`;

const files = {
  '/': ['text/html', page],
  '/style.css': ['text/css', 'body { color: rgb(1, 2, 3) }'],
  '/relative.js': ['text/javascript', 'window.relative = true'],
  '/absolute.js': ['text/javascript', 'window.absolute = true'],
  '/worker.js': ['text/javascript', "addEventListener('fetch', () => undefined)"],
  '/web/index.html': ['text/html', '<title>Landing</title>'],
};

const forOrigin = {
  'Alt-Svc': 'h2=":443"',
  'Clear-Site-Data': '"storage"',
  NEL: '{"report_to":"all","max_age":3600}',
  'Service-Worker-Allowed': '/',
  'Strict-Transport-Security': 'max-age=3600; includeSubDomains',
};

const server = createServer((request, response) => {
  const { pathname, search } = new URL(request.url, 'http://app');
  if (pathname === '/echo' || pathname === '/save') {
    let body = '';
    request.on('data', part => {
      body += part;
    });
    request.on('end', () => {
      response.setHeader('Set-Cookie', 'own=1; Path=/');
      response.setHeader('X-Frame-Options', 'DENY');
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ method: request.method, search, headers: request.headers, body }));
    });
  } else if (pathname === '/away') {
    const to = new URLSearchParams(search).get('to');
    response.writeHead(302, { Location: to ?? '/echo?from=away' }).end();
  } else if (files[pathname] === undefined) response.writeHead(404).end('nothing here');
  else {
    const more = pathname === '/worker.js' ? forOrigin : {};
    response.writeHead(200, { ...more, 'Content-Type': files[pathname][0] }).end(files[pathname][1]);
  }
});

const sockets = new WebSocketServer({ server });
sockets.on('connection', (socket, request) => {
  socket.on('message', (data, isBinary) =>
    socket.send(isBinary ? data : `${data} on ${request.url}`, { binary: isBinary }),
  );
});
server.listen(Number(process.argv[2]), '127.0.0.1');
