// The gateway of Signal: numbers, groups and logins.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'POST http://localhost:8080/v2/send';
const FROM = '+15550001111';

holdDestination(t, await contributionOf('notify-signal', 'notifications.destination'), {
  cases: [
    {
      url: 'signal://localhost:8080/+15550001111',
      sends: {
        to: API,
        headers: { authorization: undefined },
        json: { message: 'Title\nBody', number: FROM, recipients: [FROM], text_mode: undefined },
      },
    },
    { url: 'SIGNAL://localhost:8080/15550001111/', sends: { to: API, json: { number: FROM } } },
    { url: 'signals://localhost/15550001111', sends: { to: 'POST https://localhost/v2/send' } },
    { url: 'signal://[::1]:8080/15550001111', sends: { to: 'POST http://[::1]:8080/v2/send' } },
    { url: 'signal://localhost:8080/%2B1%20(555)%20000-1111', sends: { to: API, json: { number: FROM } } },
    {
      url: 'signal://localhost:8080/15550001111/15550002222',
      sends: { to: API, json: { recipients: ['+15550002222'] } },
    },
    {
      url: 'signal://localhost:8080/15550001111/+1555.000.2222/@group.aB_c=/group.dE%2Ff%2Bg==/@hI=?status=no',
      sends: { to: API, json: { recipients: ['+15550002222', 'group.aB_c=', 'group.dE/f+g==', 'group.hI='] } },
    },
    {
      url: 'signal://user:pa%3Ass@localhost:8080/15550001111',
      sends: { to: API, headers: { authorization: `Basic ${btoa('user:pa:ss')}` } },
    },
    { url: 'signal://localhost:8080/15550001111?format=markdown', sends: { to: API, json: { text_mode: 'styled' } } },
    {
      url: 'signal://localhost:8080/15550001111',
      message: { title: '' },
      sends: { to: API, json: { message: 'Body' } },
    },
  ],
  refused: [
    { url: 'signal://', message: /number of the sender/ },
    { url: 'signal://localhost', message: /number of the sender/ },
    { url: 'signal://localhost/me', message: /number of the sender/ },
    { url: 'signal://localhost/123', message: /number of the sender/ },
    { url: 'signal://localhost/15550001111/someone', message: /A recipient is a number/ },
    { url: 'signal://localhost/15550001111/@', message: /A recipient is a number/ },
    { url: 'signal:///15550001111', message: /names no host/ },
  ],
  accepts: [{ status: 201, body: { timestamp: '1' } }, { status: 200 }],
  refuses: [
    { status: 400, body: { error: 'Unregistered user' }, error: /^HTTP 400: Unregistered user$/ },
    { status: 204, error: /^HTTP 204$/ },
  ],
  secret: {
    url: 'signal://owner:s3cr3t-w0rd@localhost/15550001111/@group.hushHush1=',
    parts: ['s3cr3t-w0rd', '15550001111', 'group.hushHush1=', btoa('owner:s3cr3t-w0rd')],
  },
});
