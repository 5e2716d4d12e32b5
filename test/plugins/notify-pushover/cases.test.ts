// Pushover: users, devices, priorities and the answers of its interface.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'POST https://api.pushover.net/1/messages.json';

holdDestination(t, await contributionOf('notify-pushover', 'notifications.destination'), {
  cases: [
    {
      url: 'pover://uSer@toKen',
      sends: {
        to: API,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        form: {
          token: 'toKen',
          user: 'uSer',
          title: 'Title',
          message: 'Body',
          priority: '1',
          device: undefined,
          sound: undefined,
          retry: undefined,
          expire: undefined,
          html: undefined,
        },
      },
    },
    { url: 'POVER://uSer@toKen/', sends: { to: API } },
    { url: 'pover://u%53er@to%4Ben', sends: { to: API, form: { user: 'uSer', token: 'toKen' } } },
    { url: 'pover://user@token/phone', sends: { to: API, form: { device: 'phone' } } },
    { url: 'pover://user@token/phone/my%20pad/', sends: { to: API, form: { device: 'phone,my pad' } } },
    { url: 'pover://user@token?sound=Siren', sends: { to: API, form: { sound: 'siren' } } },
    {
      url: 'pover://user@token?url=https%3A%2F%2Fx%2F%3Fa%3Db&url_title=See%20it',
      sends: { to: API, form: { url: 'https://x/?a=b', url_title: 'See it' } },
    },
    { url: 'pover://user@token?priority=-2', sends: { to: API, form: { priority: '-2' } } },
    { url: 'pover://user@token?priority=LOW', sends: { to: API, form: { priority: '-2' } } },
    { url: 'pover://user@token?priority=moderate', sends: { to: API, form: { priority: '-1' } } },
    { url: 'pover://user@token?priority=normal', sends: { to: API, form: { priority: '0' } } },
    { url: 'pover://user@token?Priority=high', sends: { to: API, form: { priority: '1' } } },
    {
      url: 'pover://user@token?priority=emergency',
      sends: { to: API, form: { priority: '2', retry: '300', expire: '3600' } },
    },
    {
      url: 'pover://user@token?priority=2&retry=60&expire=600',
      sends: { to: API, form: { retry: '60', expire: '600' } },
    },
    {
      url: 'pover://user@token',
      message: { severity: 'warning', title: '' },
      sends: { to: API, form: { priority: '0', title: undefined } },
    },
    { url: 'pover://user@token', message: { body: '' }, sends: { to: API, form: { message: 'Title' } } },
    { url: 'pover://user@token?format=html', sends: { to: API, form: { html: '1' } } },
    {
      url: 'pover://user@token',
      message: { title: 't'.repeat(300), body: 'b'.repeat(2_000) },
      sends: { to: API, form: { title: `${'t'.repeat(247)}...`, message: `${'b'.repeat(1_021)}...` } },
    },
  ],
  refused: [
    { url: 'pover://', message: /key of the user and the token/ },
    { url: 'pover://token', message: /key of the user and the token/ },
    { url: 'pover://user@', message: /key of the user and the token/ },
    { url: 'pover://user@/device', message: /key of the user and the token/ },
    { url: 'pover://us%20er@token', message: /key of the user and the token/ },
    { url: 'pover://user@token?priority=3', message: /priority is a number from -2 to 2/ },
    { url: 'pover://user@token?priority=loud', message: /priority is a number from -2 to 2/ },
  ],
  accepts: [{ body: { status: 1, request: 'x' } }],
  refuses: [
    { body: { status: 0 }, error: /^HTTP 200/ },
    {
      status: 400,
      body: { status: 0, errors: ['application token is invalid'] },
      error: /^HTTP 400: .*token is invalid/,
    },
    { status: 429, body: { status: 0, errors: ['over quota'] }, error: /^HTTP 429/ },
  ],
  secret: {
    url: 'pover://uSerKey0123456789@aPpToken0123456789/myphone',
    parts: ['uSerKey0123456789', 'aPpToken0123456789', 'myphone'],
  },
});
