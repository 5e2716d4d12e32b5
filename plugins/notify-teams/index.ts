// Microsoft Teams: each message is a card that a workflow posts.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

const NATIVE_HOST = /\.(?:logic\.azure\.com|api\.powerplatform\.com|powerautomate\.com)$/;
const NATIVE_PATH = /\/workflows\/[^/]+\/triggers\/manual\/paths\/invoke\/?$/;
const API_VERSION = '2016-06-01';

const teams: NotificationDestination<{ readonly url: string }> = {
  schemes: ['workflow', 'workflows'],
  example: 'workflows://host/workflow/signature',
  limits: { body: 20_000, unit: 'bytes' },
  escapes: 'markdown',
  native: url => url.protocol === 'https:' && NATIVE_HOST.test(url.hostname) && NATIVE_PATH.test(url.pathname),

  parse(url) {
    if (url.scheme === 'https') return { url: url.text };
    const [workflow, signature] = url.segments;
    if (workflow === undefined || signature === undefined) {
      throw new Problem(400, 'The URL needs the workflow and its signature: workflows://host/workflow/signature');
    }
    const path = `/workflows/${encodeURIComponent(workflow)}/triggers/manual/paths/invoke`;
    const query = new URLSearchParams({
      'api-version': url.query.get('ver') || API_VERSION,
      sp: '/triggers/manual/run',
      sv: '1.0',
      sig: signature,
    });
    return { url: `${url.base().replace('http:', 'https:')}${path}?${query}` };
  },

  async send({ url }, { title, body }, delivery) {
    const heading = { type: 'TextBlock', text: title, size: 'Large', weight: 'Bolder', wrap: true };
    // A card shows a single newline as a space.
    const text = { type: 'TextBlock', text: body.replaceAll('\n', '\n\n'), wrap: true };
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: title === '' ? [text] : [heading, text],
    };
    const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', content };
    const answer = await delivery.request(url, { json: { type: 'message', attachments: [attachment] } });
    return delivery.outcome(answer, { statuses: [200, 202] });
  },
};

export default definePlugin({
  name: 'notify-teams',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'teams', teams),
});
