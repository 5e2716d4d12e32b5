// Home Assistant: places of the token in the path, services with targets, and the default port.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const BASE = 'POST http://localhost:8123/api/services';
const STANDING = `${BASE}/persistent_notification/create`;
const JWT = 'eyJhbGci.eyJpc3Mi.s1g_na-ture';

holdDestination(t, await contributionOf('notify-home-assistant', 'notifications.destination'), {
  cases: [
    {
      url: 'hassio://localhost/toKen',
      sends: {
        to: STANDING,
        headers: { authorization: 'Bearer toKen' },
        json: { title: 'Title', message: 'Body', notification_id: 'delivery-1' },
      },
    },
    { url: 'HASSIO://localhost/toKen/', sends: { to: STANDING } },
    {
      url: 'hassios://localhost/toKen',
      sends: { to: 'POST https://localhost/api/services/persistent_notification/create' },
    },
    {
      url: 'hassios://localhost:8443/toKen',
      sends: { to: 'POST https://localhost:8443/api/services/persistent_notification/create' },
    },
    {
      url: 'hassio://[fe80::1]/toKen',
      sends: { to: 'POST http://[fe80::1]:8123/api/services/persistent_notification/create' },
    },
    { url: 'hassio://localhost/toKen?nid=my%20id', sends: { to: STANDING, json: { notification_id: 'my id' } } },
    {
      url: 'hassio://localhost/toKen?prefix=/a/b%20c',
      sends: { to: 'POST http://localhost:8123/a/b%20c/api/services/persistent_notification/create' },
    },
    {
      url: 'hassio://localhost?accesstoken=to%2FKen',
      sends: { to: STANDING, headers: { authorization: 'Bearer to/Ken' } },
    },
    { url: 'hassio://user:pass@localhost/toKen', sends: { to: STANDING, headers: { authorization: 'Bearer toKen' } } },
    { url: `hassio://localhost/${JWT}`, sends: { to: STANDING, headers: { authorization: `Bearer ${JWT}` } } },
    {
      url: `hassio://localhost/${JWT}/mobile_app_phone`,
      sends: {
        to: `${BASE}/notify/mobile_app_phone`,
        headers: { authorization: `Bearer ${JWT}` },
        json: { title: 'Title', message: 'Body', notification_id: undefined, target: undefined },
      },
    },
    {
      url: 'hassio://localhost/telegram/toKen',
      sends: { to: `${BASE}/notify/telegram`, headers: { authorization: 'Bearer toKen' } },
    },
    { url: `hassio://localhost/${JWT}/script.alarm`, sends: { to: `${BASE}/script/alarm` } },
    {
      url: `hassio://localhost/${JWT}/notify.smtp:a,%20b`,
      sends: { to: `${BASE}/notify/smtp`, json: { target: ['a', 'b'] } },
    },
    {
      url: `hassio://localhost/one/${JWT}/script.two:x?image=no`,
      sends: [{ to: `${BASE}/notify/one` }, { to: `${BASE}/script/two`, json: { target: ['x'] } }],
    },
    {
      url: 'hassio://localhost/one?accesstoken=toKen',
      sends: { to: `${BASE}/notify/one`, headers: { authorization: 'Bearer toKen' } },
    },
    { url: 'hassio://localhost/toKen', message: { title: '' }, sends: { to: STANDING, json: { title: undefined } } },
  ],
  refused: [
    { url: 'hassio://', message: /needs an access token/ },
    { url: 'hassio://localhost', message: /needs an access token/ },
    { url: 'hassio://localhost/?accesstoken=', message: /needs an access token/ },
    { url: 'hassio:///toKen', message: /names no host/ },
    { url: 'hassio://local host/toKen', message: /names no host/ },
    { url: `hassio://localhost/${JWT}/a%2Fb`, message: /service is written as/ },
    { url: `hassio://localhost/${JWT}/..`, message: /service is written as/ },
  ],
  accepts: [{ body: [] }],
  refuses: [
    { status: 401, body: '401: Unauthorized', error: /^HTTP 401: 401: Unauthorized$/ },
    { status: 400, body: { message: 'Service not found' }, error: /^HTTP 400: Service not found$/ },
    { status: 201, error: /^HTTP 201$/ },
  ],
  secret: {
    url: `hassio://localhost/${JWT}/mobile_app_of_me?nid=hidden-id`,
    parts: [JWT, 'mobile_app_of_me', 'hidden-id'],
  },
});
