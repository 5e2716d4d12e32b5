// Gotify: places of servers, tokens and priorities.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const HOST = 'POST http://localhost/message';

holdDestination(t, await contributionOf('notify-gotify', 'notifications.destination'), {
  cases: [
    {
      url: 'gotify://localhost/toKen',
      sends: {
        to: HOST,
        headers: { 'x-gotify-key': 'toKen', 'content-type': 'application/json' },
        json: { title: 'Title', message: 'Body', priority: 8, extras: undefined },
      },
    },
    { url: 'gotifys://localhost/toKen/', sends: { to: 'POST https://localhost/message' } },
    { url: 'GOTIFYS://LocalHost:8443/toKen', sends: { to: 'POST https://LocalHost:8443/message' } },
    {
      url: 'gotify://localhost/path/to/toKen',
      sends: { to: 'POST http://localhost/path/to/message', headers: { 'x-gotify-key': 'toKen' } },
    },
    {
      url: 'gotify://localhost/a%20b/to%2FKen',
      sends: { to: 'POST http://localhost/a%20b/message', headers: { 'x-gotify-key': 'to/Ken' } },
    },
    { url: 'gotify://[::1]:8080/toKen', sends: { to: 'POST http://[::1]:8080/message' } },
    { url: 'gotify://192.0.2.1/toKen', sends: { to: 'POST http://192.0.2.1/message' } },
    { url: 'gotify://user:pass@localhost/toKen', sends: { to: HOST } },
    { url: 'gotify://localhost/toKen?priority=low', sends: { to: HOST, json: { priority: 0 } } },
    { url: 'gotify://localhost/toKen?Priority=Moderate', sends: { to: HOST, json: { priority: 3 } } },
    { url: 'gotify://localhost/toKen?priority=normal', sends: { to: HOST, json: { priority: 5 } } },
    { url: 'gotify://localhost/toKen?priority=high', sends: { to: HOST, json: { priority: 8 } } },
    { url: 'gotify://localhost/toKen?priority=emergency', sends: { to: HOST, json: { priority: 10 } } },
    { url: 'gotify://localhost/toKen?priority=10&image=no', sends: { to: HOST, json: { priority: 10 } } },
    {
      url: 'gotify://localhost/toKen',
      message: { severity: 'info', title: '' },
      sends: { to: HOST, json: { priority: 3, title: undefined } },
    },
    { url: 'gotify://localhost/toKen', message: { body: '' }, sends: { to: HOST, json: { message: 'Title' } } },
    { url: 'gotify://localhost/toKen', message: { severity: 'success' }, sends: { to: HOST, json: { priority: 3 } } },
    { url: 'gotify://localhost/toKen', message: { severity: 'warning' }, sends: { to: HOST, json: { priority: 5 } } },
    {
      url: 'gotify://localhost/toKen?format=markdown',
      sends: { to: HOST, json: { extras: { 'client::display': { contentType: 'text/markdown' } } } },
    },
  ],
  refused: [
    { url: 'gotify://', message: /token of the application/ },
    { url: 'gotify://localhost', message: /token of the application/ },
    { url: 'gotify://localhost//', message: /token of the application/ },
    { url: 'gotify:///toKen', message: /names no host/ },
    { url: 'gotify://localhost:99999/toKen', message: /names no host/ },
    { url: 'gotify://[::zz]/toKen', message: /names no host/ },
    { url: 'gotify://localhost/toKen?priority=11', message: /priority is a number from 0 to 10/ },
    { url: 'gotify://localhost/toKen?priority=constructor', message: /priority is a number from 0 to 10/ },
  ],
  accepts: [{ body: { id: 1 } }],
  refuses: [
    {
      status: 401,
      body: { error: 'Unauthorized', errorCode: 401, errorDescription: 'you need to provide a valid token' },
      error: /^HTTP 401: Unauthorized$/,
    },
    { status: 201, error: /^HTTP 201$/ },
  ],
  secret: { url: 'gotify://localhost/hidden-path/s3cr3t-toKen', parts: ['hidden-path', 's3cr3t-toKen'] },
});
