// Bark: devices, logins and the looks of messages.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'POST http://localhost/push';

holdDestination(t, await contributionOf('notify-bark', 'notifications.destination'), {
  cases: [
    {
      url: 'bark://localhost/kEy',
      sends: {
        to: API,
        headers: { authorization: undefined },
        json: { device_key: 'kEy', title: 'Title', body: 'Body', level: undefined, sound: undefined, group: undefined },
      },
    },
    { url: 'BARKS://localhost:8443/kEy/', sends: { to: 'POST https://localhost:8443/push' } },
    { url: 'barks://[2001:db8::2]/kEy', sends: { to: 'POST https://[2001:db8::2]/push' } },
    {
      url: 'bark://us%40er:pass@localhost/kEy',
      sends: { to: API, headers: { authorization: `Basic ${btoa('us@er:pass')}` } },
    },
    { url: 'bark://localhost/k%45y', sends: { to: API, json: { device_key: 'kEy' } } },
    {
      url: 'bark://localhost/one/two',
      sends: [
        { to: API, json: { device_key: 'one' } },
        { to: API, json: { device_key: 'two' } },
      ],
    },
    { url: 'bark://localhost/kEy?level=timesensitive', sends: { to: API, json: { level: 'timeSensitive' } } },
    {
      url: 'bark://localhost/kEy?Level=critical&sound=alarm&group=my%20stack&x=y',
      sends: { to: API, json: { level: 'critical', sound: 'alarm', group: 'my stack' } },
    },
    { url: 'bark://localhost/kEy', message: { title: '' }, sends: { to: API, json: { title: undefined } } },
  ],
  refused: [
    { url: 'bark://', message: /key of a device/ },
    { url: 'bark://localhost', message: /key of a device/ },
    { url: 'bark://localhost/?sound=x', message: /key of a device/ },
    { url: 'bark:///kEy', message: /names no host/ },
    { url: 'bark://localhost:0/kEy', message: /names no host/ },
    { url: 'bark://localhost/kEy?level=loud', message: /level is one of/ },
  ],
  accepts: [{ body: { code: 200, message: 'success' } }],
  refuses: [
    { status: 400, body: { code: 400, message: 'failed to get device token' }, error: /^HTTP 400: failed to get/ },
  ],
  secret: {
    url: 'bark://owner:s3cr3t-w0rd@localhost/dev1ce-kEy?group=hush-group',
    parts: ['s3cr3t-w0rd', 'dev1ce-kEy', 'hush-group', btoa('owner:s3cr3t-w0rd')],
  },
});
