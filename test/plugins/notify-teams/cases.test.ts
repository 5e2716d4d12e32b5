// Microsoft Teams: workflows by their parts and by their own web addresses, and cards.
import t from 'tap';
import { holdDestination } from '../../contracts/notification-destination.ts';
import { contributionOf } from '../../support/templates.ts';

const PATH = '/workflows/wFlow/triggers/manual/paths/invoke';
const QUERY = 'sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=sIg-1';
const FLOW = `POST https://prod-1.example${PATH}?api-version=2016-06-01&${QUERY}`;
const NATIVE = `https://prod-1.westus.logic.azure.com:443${PATH}?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=a%2Bb`;
const text = (value: string) => ({ type: 'TextBlock', text: value });
const card = (...body: object[]) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: { type: 'AdaptiveCard', version: '1.4', body },
    },
  ],
});

holdDestination(t, await contributionOf('notify-teams', 'notifications.destination'), {
  cases: [
    { url: 'workflow://prod-1.example/wFlow/sIg-1', sends: { to: FLOW, json: card(text('Title'), text('Body')) } },
    { url: 'WORKFLOWS://prod-1.example/wFlow/sIg-1/', sends: { to: FLOW } },
    { url: 'workflows://prod-1.example/wFlow/s%49g-1?image=no', sends: { to: FLOW } },
    { url: 'workflows://prod-1.example:443/wFlow/sIg-1', sends: { to: FLOW.replace('.example', '.example:443') } },
    {
      url: 'workflows://prod-1.example/w%20F/s%2Bg',
      sends: { to: FLOW.replace('wFlow', 'w%20F').replace('sIg-1', 's%2Bg') },
    },
    {
      url: 'workflows://prod-1.example/wFlow/sIg-1?ver=2020-01-01',
      sends: { to: FLOW.replace('2016-06-01', '2020-01-01') },
    },
    { url: NATIVE, sends: { to: `POST ${NATIVE}` } },
    {
      url: `https://x.01.environment.api.powerplatform.com:443/powerautomate/automations/direct${PATH}?sig=x`,
      sends: {
        to: `POST https://x.01.environment.api.powerplatform.com:443/powerautomate/automations/direct${PATH}?sig=x`,
      },
    },
    {
      url: 'workflow://prod-1.example/wFlow/sIg-1',
      message: { title: '' },
      sends: { to: FLOW, json: card(text('Body')) },
    },
    {
      url: 'workflow://prod-1.example/wFlow/sIg-1',
      message: { body: '*a*\nb' },
      sends: { to: FLOW, json: card(text('Title'), text('\\*a\\*\n\nb')) },
    },
  ],
  refused: [
    { url: 'workflow://', message: /workflow and its signature/ },
    { url: 'workflow://prod-1.example', message: /workflow and its signature/ },
    { url: 'workflow://prod-1.example/wFlow', message: /workflow and its signature/ },
    { url: 'workflow:///wFlow/sIg', message: /names no host/ },
    { url: 'workflow://a b/wFlow/sIg', message: /names no host/ },
  ],
  foreign: [
    `https://example${PATH}?sig=x`,
    'https://prod-1.westus.logic.azure.com/other',
    NATIVE.replace('https:', 'http:'),
  ],
  accepts: [{ status: 202 }, { status: 200 }],
  refuses: [
    { status: 401, body: { error: { code: 'DirectApiAuthorizationRequired' } }, error: /^HTTP 401: .*DirectApi/ },
    { status: 204, error: /^HTTP 204$/ },
  ],
  secret: { url: 'workflow://prod-1.example/wFlow-1234/s3cr3t-sIgnature', parts: ['wFlow-1234', 's3cr3t-sIgnature'] },
});
