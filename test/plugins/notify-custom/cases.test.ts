// Receivers of any kind: methods, members, headers and queries, as JSON and as a form.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const HOST = 'POST http://localhost/a/b';
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const faults = {
  accepts: [{ status: 204 }, { status: 200 }, { status: 202 }],
  refuses: [{ status: 400, body: { detail: 'no such field' }, error: /^HTTP 400: no such field$/ }],
} as const;

t.test('messages as JSON', async t => {
  holdDestination(t, await contributionOf('notify-custom', 'notifications.destination', { key: 'json' }), {
    cases: [
      {
        url: 'json://localhost/a/b',
        sends: {
          to: HOST,
          headers: { authorization: undefined, 'content-type': 'application/json' },
          json: { version: '1.0', title: 'Title', message: 'Body', attachments: [], type: 'failure' },
        },
      },
      { url: 'JSONS://localhost/a/b', sends: { to: 'POST https://localhost/a/b' } },
      { url: 'json://localhost', sends: { to: 'POST http://localhost/' } },
      { url: 'json://localhost?x=y', sends: { to: 'POST http://localhost/' } },
      { url: 'json://localhost:8080/a/b/', sends: { to: 'POST http://localhost:8080/a/b/' } },
      { url: 'json://localhost/a%20b/c%2Fd//e#f', sends: { to: 'POST http://localhost/a%20b/c%2Fd//e%23f' } },
      { url: 'json://[2001:db8::7]:81/a', sends: { to: 'POST http://[2001:db8::7]:81/a' } },
      {
        url: 'json://us%2Fer:pa%3Ass@localhost/a/b',
        sends: { to: HOST, headers: { authorization: basic('us/er:pa:ss') } },
      },
      { url: 'json://localhost/a/b?method=put', sends: { to: 'PUT http://localhost/a/b' } },
      { url: 'json://localhost/a/b?method=PATCH', sends: { to: 'PATCH http://localhost/a/b' } },
      { url: 'json://localhost/a/b?method=delete', sends: { to: 'DELETE http://localhost/a/b' } },
      { url: 'json://localhost/a/b?+X-Token=a%2Bb+c', sends: { to: HOST, headers: { 'x-token': 'a+b+c' } } },
      { url: 'json://localhost/a/b?-key=a%26b&-Other=c', sends: { to: `${HOST}?key=a%26b&Other=c` } },
      { url: 'json://localhost/a/b?key=ignored', sends: { to: HOST } },
      {
        url: 'json://localhost/a/b?:extra=%C3%A9&:message=text&:version=&:attachments=',
        sends: {
          to: HOST,
          json: {
            extra: 'é',
            text: 'Body',
            title: 'Title',
            message: undefined,
            version: undefined,
            attachments: undefined,
          },
        },
      },
      {
        url: 'json://localhost/a/b',
        message: { severity: 'success', title: '' },
        sends: { to: HOST, json: { type: 'success', title: '' } },
      },
      {
        url: 'json://localhost/a/b?verify=no&format=html',
        message: { body: '<b>' },
        sends: { to: HOST, json: { message: '<b>' } },
      },
    ],
    refused: [
      { url: 'json://', message: /names no host/ },
      { url: 'json:///a/b', message: /names no host/ },
      { url: 'json://080/a/b', message: /names no host/ },
      { url: 'json://256.1.1.1', message: /names no host/ },
      { url: 'json://user:pass@/a', message: /names no host/ },
      { url: 'json://localhost:port/a', message: /names no host/ },
      { url: 'json://[::1/a', message: /names no host/ },
      { url: 'json://localhost/a?method=TRACE', message: /method is one of/ },
      { url: 'json://localhost/a?+Content-Length=1', message: /header 'content-length'/ },
      { url: 'json://localhost/a?+X=a%0D%0AY:b', message: /value of a header/ },
    ],
    ...faults,
    secret: {
      url: 'json://owner:s3cr3t-w0rd@localhost/hidden-path?+X-Key=hush-hush-1&-key=hush-hush-2&:k=hush-hush-3',
      parts: [
        's3cr3t-w0rd',
        'hidden-path',
        'hush-hush-1',
        'hush-hush-2',
        'hush-hush-3',
        basic('owner:s3cr3t-w0rd').slice(6),
      ],
    },
  });
});

t.test('messages as a form', async t => {
  holdDestination(t, await contributionOf('notify-custom', 'notifications.destination', { key: 'form' }), {
    cases: [
      {
        url: 'form://localhost/a/b',
        sends: {
          to: HOST,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          form: { version: '1.0', title: 'Title', message: 'Body', type: 'failure', attachments: undefined },
        },
      },
      { url: 'Forms://localhost:8443/a/b', sends: { to: 'POST https://localhost:8443/a/b' } },
      { url: 'form://user@localhost/a/b', sends: { to: HOST, headers: { authorization: basic('user:') } } },
      { url: 'form://localhost/a/b?method=PUT', sends: { to: 'PUT http://localhost/a/b', form: { title: 'Title' } } },
      {
        url: 'form://localhost/a/b?method=get&-k=v',
        sends: { to: 'GET http://localhost/a/b?k=v&version=1.0&title=Title&message=Body&type=failure' },
      },
      {
        url: 'form://localhost/a/b?:title=subject&:type=&:to=me%20too&+X-A=1',
        message: { body: 'a&b=c' },
        sends: {
          to: HOST,
          headers: { 'x-a': '1' },
          form: { subject: 'Title', title: undefined, type: undefined, to: 'me too', message: 'a&b=c' },
        },
      },
    ],
    refused: [
      { url: 'form://', message: /names no host/ },
      { url: 'forms://?x=y', message: /names no host/ },
      { url: 'form://localhost?method=GRAB', message: /method is one of/ },
      { url: 'form://localhost?+Connection=close', message: /header 'connection'/ },
    ],
    ...faults,
    secret: {
      url: 'form://owner:s3cr3t-w0rd@localhost/hidden-path?-key=hush-hush-2',
      parts: ['s3cr3t-w0rd', 'hidden-path', 'hush-hush-2'],
    },
  });
});
