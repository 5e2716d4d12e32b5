// The Apprise gateway: keys, paths, tags and headers, and its answers for failures.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const HOST = 'POST http://localhost/notify/my-key';

holdDestination(t, await contributionOf('notify-apprise', 'notifications.destination'), {
  cases: [
    {
      url: 'apprise://localhost/my-key',
      sends: {
        to: HOST,
        headers: { accept: 'application/json', authorization: undefined },
        json: { title: 'Title', body: 'Body', type: 'failure', format: 'text', tag: undefined },
      },
    },
    { url: 'APPRISE://localhost/my-key/', sends: { to: HOST } },
    { url: 'apprises://localhost/my-key', sends: { to: 'POST https://localhost/notify/my-key' } },
    {
      url: 'apprise://localhost:8000/a/b%20c/my-key',
      sends: { to: 'POST http://localhost:8000/a/b%20c/notify/my-key' },
    },
    { url: 'apprise://[::1]:8000/my-key', sends: { to: 'POST http://[::1]:8000/notify/my-key' } },
    { url: 'apprise://localhost/my%2Dkey', sends: { to: HOST } },
    {
      url: 'apprise://u%3Aser:pa%40ss@localhost/my-key',
      sends: { to: HOST, headers: { authorization: `Basic ${btoa('u:ser:pa@ss')}` } },
    },
    { url: 'apprise://localhost/my-key?tags=a,b', sends: { to: HOST, json: { tag: 'a,b' } } },
    { url: 'apprise://localhost/my-key?Tags=a%20b&to=x', sends: { to: HOST, json: { tag: 'a b' } } },
    {
      url: 'apprise://localhost/my-key?+X-Token=a%20b&+X-Two=2',
      sends: { to: HOST, headers: { 'x-token': 'a b', 'x-two': '2' } },
    },
    { url: 'apprise://localhost/my-key?%2BX-Token=a', sends: { to: HOST, headers: { 'x-token': 'a' } } },
    { url: 'apprise://localhost/my-key?format=markdown', sends: { to: HOST, json: { format: 'markdown' } } },
    {
      url: 'apprise://localhost/my-key',
      message: { severity: 'info', title: '' },
      sends: { to: HOST, json: { type: 'info', title: '' } },
    },
    { url: 'apprise://localhost/my-key', message: { body: '' }, sends: { to: HOST, json: { body: 'Title' } } },
    {
      url: 'apprise://localhost/my-key',
      message: { severity: 'warning' },
      sends: { to: HOST, json: { type: 'warning' } },
    },
    {
      url: 'apprise://localhost/my-key',
      message: { severity: 'success' },
      sends: { to: HOST, json: { type: 'success' } },
    },
  ],
  refused: [
    { url: 'apprise://', message: /key of a configuration/ },
    { url: 'apprise://localhost', message: /key of a configuration/ },
    { url: 'apprise://localhost/', message: /key of a configuration/ },
    { url: 'apprise://localhost/my%20key', message: /key of a configuration/ },
    { url: 'apprise://localhost/my%2Fkey', message: /key of a configuration/ },
    { url: 'apprise:///my-key', message: /names no host/ },
    { url: 'apprise://localhost/my-key?+Host=x', message: /header 'host'/ },
    { url: 'apprise://localhost/my-key?+X=a%0Ab', message: /value of a header/ },
    { url: 'apprise://localhost/my-key?+X%20Y=a', message: /name of a header/ },
  ],
  accepts: [{ body: { error: null } }],
  refuses: [
    { status: 204, error: /^HTTP 204: the gateway has no services under this key$/ },
    {
      status: 424,
      body: { error: 'One or more notification could not be sent' },
      error: /^HTTP 424: the gateway could not/,
    },
    { status: 400, body: { error: 'Bad' }, error: /^HTTP 400: Bad$/ },
  ],
  secret: {
    url: 'apprise://owner:s3cr3t-w0rd@localhost/hidden-key-1?+X-Access=hush-hush-9',
    parts: ['s3cr3t-w0rd', 'hidden-key-1', 'hush-hush-9', btoa('owner:s3cr3t-w0rd')],
  },
});
