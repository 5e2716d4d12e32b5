// Gotify: each message goes to the application whose token the URL ends with.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination, Severity } from '../notifications/contract.ts';

interface GotifyConfig {
  readonly url: string;
  readonly token: string;
  readonly priority: number | undefined;
}

const PRIORITIES: Readonly<Record<Severity, number>> = { info: 3, success: 3, warning: 5, critical: 8 };
const NAMED = new Map([
  ['low', 0],
  ['moderate', 3],
  ['normal', 5],
  ['high', 8],
  ['emergency', 10],
]);

const gotify: NotificationDestination<GotifyConfig> = {
  schemes: ['gotify', 'gotifys'],
  example: 'gotifys://host/token',

  parse(url) {
    const token = url.segments.at(-1);
    if (token === undefined) throw new Problem(400, 'The URL needs the token of the application: gotifys://host/token');
    return { url: `${url.base()}${url.path(0, -1)}/message`, token, priority: priorityOf(url.query.get('priority')) };
  },

  async send({ url, token, priority }, { title, body, severity, format }, delivery) {
    const extras = format === 'markdown' ? { 'client::display': { contentType: 'text/markdown' } } : undefined;
    const answer = await delivery.request(url, {
      headers: { 'x-gotify-key': token },
      json: { title: title || undefined, message: body || title, priority: priority ?? PRIORITIES[severity], extras },
    });
    return delivery.outcome(answer, { statuses: [200] });
  },
};

function priorityOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const priority = /^(?:\d|10)$/.test(text) ? Number(text) : NAMED.get(text.toLowerCase());
  if (priority !== undefined) return priority;
  throw new Problem(400, `The priority is a number from 0 to 10, or one of ${[...NAMED.keys()].join(', ')}`);
}

export default definePlugin({
  name: 'notify-gotify',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'gotify', gotify),
});
