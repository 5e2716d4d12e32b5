// Pushover: each message goes to all devices of a user, or to those that the URL names.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface PushoverConfig {
  /** Members of every request. */
  readonly form: Readonly<Record<string, string | undefined>>;
  readonly priority: number | undefined;
  readonly retrySec: string;
  readonly expireSec: string;
}

const ID = /^[a-z0-9]+$/i;
const EMERGENCY = 2;
/** Names of the priorities from -2 on. */
const PRIORITY_NAMES = ['low', 'moderate', 'normal', 'high', 'emergency'];

const pushover: NotificationDestination<PushoverConfig> = {
  schemes: ['pover'],
  example: 'pover://user_key@app_token',
  limits: { title: 250, body: 1_024 },

  parse({ user, host, segments, query }) {
    if (!ID.test(user) || !ID.test(host)) {
      throw new Problem(
        400,
        'The URL needs the key of the user and the token of the application: pover://user_key@app_token',
      );
    }
    return {
      form: {
        token: host,
        user,
        device: segments.join(',') || undefined,
        sound: query.get('sound')?.toLowerCase(),
        url: query.get('url'),
        url_title: query.get('url_title'),
      },
      priority: priorityOf(query.get('priority')),
      retrySec: query.get('retry') ?? '300',
      expireSec: query.get('expire') ?? '3600',
    };
  },

  async send({ form, priority: wanted, retrySec, expireSec }, { title, body, severity, format }, delivery) {
    const priority = wanted ?? (severity === 'critical' ? 1 : 0);
    const urgent = priority === EMERGENCY ? { retry: retrySec, expire: expireSec } : {};
    const html = format === 'html' ? '1' : undefined;
    const answer = await delivery.request('https://api.pushover.net/1/messages.json', {
      form: { ...form, title: title || undefined, message: body || title, priority: String(priority), html, ...urgent },
    });
    return delivery.outcome(answer, { statuses: [200], isOk: answer.json.status === 1 });
  },
};

function priorityOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^(?:-[12]|[012])$/.test(text)) return Number(text);
  const index = PRIORITY_NAMES.indexOf(text.toLowerCase());
  if (index >= 0) return index - 2;
  throw new Problem(400, `The priority is a number from -2 to 2, or one of ${PRIORITY_NAMES.join(', ')}`);
}

export default definePlugin({
  name: 'notify-pushover',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'pushover', pushover),
});
