// ntfy: each message is published to every topic of the URL, on the own server or on the public one.
import { definePlugin, Problem } from '#core';
import type { DeliveryRequest, DestinationUrl, NotificationDestination, Severity } from '../notifications/contract.ts';

interface NtfyConfig extends Pick<DeliveryRequest, 'headers' | 'basic'> {
  readonly base: string;
  readonly topics: readonly string[];
  readonly priority: number | undefined;
  /** Further members of each message. */
  readonly options: Readonly<Record<string, unknown>>;
}

const CLOUD = 'ntfy.sh';
/** A host name or IP address. Topics may have `_`, too, by which they are told apart. */
const HOST_NAME = /^[a-z0-9.:-]+$/i;
const TOPIC = /^[\w-]{1,64}$/;
const PRIORITIES: Readonly<Record<Severity, number>> = { info: 2, success: 3, warning: 4, critical: 5 };
const PRIORITY_NAMES = ['min', 'low', 'default', 'high', 'max', 'urgent'];

const ntfy: NotificationDestination<NtfyConfig> = {
  schemes: ['ntfy', 'ntfys'],
  example: 'ntfys://host/topic',
  limits: { body: 4_096, unit: 'bytes' },
  native: url => url.hostname === CLOUD && url.pathname.length > 1,

  parse(url) {
    const { user, password, host, segments, query } = url;
    const topics = isCloud(url) && host.toLowerCase() !== CLOUD ? [host, ...segments] : segments;
    if (topics.length === 0 || !topics.every(topic => TOPIC.test(topic))) {
      throw new Problem(400, 'The URL needs a topic of letters, digits, - and _: ntfys://host/topic, or ntfys://topic');
    }
    const isToken = password === '' && (user.startsWith('tk_') || query.get('auth')?.toLowerCase() === 'token');
    const tags = query.get('tags')?.split(',');
    const token = query.get('token') ?? (isToken ? user : '');
    return {
      base: isCloud(url) ? `https://${CLOUD}/` : `${url.base()}/`,
      topics,
      headers: token === '' ? {} : { authorization: `Bearer ${token}` },
      basic: token === '' ? { user, password } : undefined,
      priority: priorityOf(query.get('priority')),
      options: { tags: tags?.map(tag => tag.trim()), click: query.get('click') },
    };
  },

  send: ({ base, topics, headers = {}, basic, priority, options }, { title, body, severity, format }, delivery) =>
    delivery.each(topics, async topic => {
      const json = {
        topic,
        title: title || undefined,
        message: body || title,
        priority: priority ?? PRIORITIES[severity],
        ...options,
        markdown: format === 'markdown' || undefined,
      };
      return delivery.outcome(await delivery.request(base, { headers, basic, json }), { statuses: [200] });
    }),
};

/** Whether the public server is meant: then the host in the URL is a topic, so there is no port and no path. */
function isCloud({ host, port, segments, query }: DestinationUrl): boolean {
  const mode = query.get('mode')?.toLowerCase();
  if (mode === 'cloud' || mode === 'private') return mode === 'cloud';
  const isTopic = port === null && (segments.length === 0 || !HOST_NAME.test(host));
  return isTopic || host.toLowerCase() === CLOUD;
}

function priorityOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const priority = /^[1-5]$/.test(text) ? Number(text) : PRIORITY_NAMES.indexOf(text.toLowerCase()) + 1;
  if (priority > 0) return Math.min(priority, PRIORITIES.critical);
  throw new Problem(400, `The priority is a number from 1 to 5, or one of ${PRIORITY_NAMES.join(', ')}`);
}

export default definePlugin({
  name: 'notify-ntfy',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'ntfy', ntfy),
});
