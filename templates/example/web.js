// A small web service: a page, and a health address.
import { createServer } from 'node:http';

const port = Number(process.env.PORT);
let requests = 0;

createServer((request, response) => {
  requests += 1;
  if (request.url === '/health') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ status: 'ok', requests }));
    return;
  }
  console.log(`INFO ${request.method} ${request.url}`);
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(`<!doctype html><title>Example</title><h1>It works</h1><p>${requests} requests so far.</p>`);
}).listen(port, '127.0.0.1', () => console.log(`INFO listening on port ${port}`));
