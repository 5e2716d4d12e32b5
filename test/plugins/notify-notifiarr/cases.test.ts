// Notifiarr: keys and channels.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const API = 'POST https://notifiarr.com/api/v1/notification/apprise';

holdDestination(t, await contributionOf('notify-notifiarr', 'notifications.destination'), {
  cases: [
    {
      url: 'notifiarr://aPi-kEy/#123456',
      sends: {
        to: API,
        headers: { 'x-api-key': 'aPi-kEy' },
        json: {
          source: 'Stackwarden',
          type: 'failure',
          notification: { update: false, name: 'Stackwarden', event: '' },
          discord: {
            color: 'c0392b',
            ping: { pingUser: 0, pingRole: 0 },
            text: { title: 'Title', content: '', description: 'Body', footer: 'Stackwarden' },
            ids: { channel: 123_456 },
          },
        },
      },
    },
    { url: 'NOTIFIARR://aPi-kEy/123456/', sends: { to: API } },
    { url: 'notifiarr://aPi%2DkEy/%23123456?event=x', sends: { to: API, headers: { 'x-api-key': 'aPi-kEy' } } },
    {
      url: 'notifiarr://aPi-kEy/#1/2',
      sends: [
        { to: API, json: { discord: { ids: { channel: 1 } } } },
        { to: API, json: { discord: { ids: { channel: 2 } } } },
      ],
    },
    {
      url: 'notifiarr://aPi-kEy/#1',
      message: { severity: 'info', title: '', body: '*x* "channel":"7"' },
      sends: {
        to: API,
        json: { type: 'info', discord: { color: '3a8fd9', text: { title: '', description: '\\*x\\* "channel":"7"' } } },
      },
    },
  ],
  refused: [
    { url: 'notifiarr://', message: /API key as its host/ },
    { url: 'notifiarr:///#1', message: /API key as its host/ },
    { url: 'notifiarr://a%20b/#1', message: /API key as its host/ },
    { url: 'notifiarr://aPi-kEy', message: /number of a channel/ },
    { url: 'notifiarr://aPi-kEy/#general', message: /number of a channel/ },
    { url: 'notifiarr://aPi-kEy/#1/two', message: /number of a channel/ },
  ],
  accepts: [{ body: { result: 'success' } }],
  refuses: [
    { status: 401, body: { result: 'error', message: 'Invalid API key' }, error: /^HTTP 401: Invalid API key$/ },
  ],
  secret: { url: 'notifiarr://s3cr3t-kEy-77/#735481457153277994', parts: ['s3cr3t-kEy-77', '735481457153277994'] },
});
