// Zulip: a bot posts each message to every stream of the URL, with its title as the topic, or to people directly.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface ZulipConfig {
  readonly url: string;
  readonly basic: { readonly user: string; readonly password: string };
  /** Names of streams, and mail addresses of people. */
  readonly targets: readonly string[];
}

const BOT = /^([\w-]{1,64}?)(?:-bot)?$/i;
const ORGANISATION = /^([a-z0-9_-]{1,64})(\.[a-z0-9.-]+)?$/i;
const CLOUD = '.zulipchat.com';
const STREAM = 'general';
const TOPIC = 'Stackwarden';

const zulip: NotificationDestination<ZulipConfig> = {
  schemes: ['zulip'],
  example: 'zulip://bot@organisation/api_key/stream',
  limits: { title: 60, body: 9_900, text: 9_900 },

  parse({ user, host, segments }) {
    const [, bot] = BOT.exec(user) ?? [];
    const [, organisation, domain = CLOUD] = ORGANISATION.exec(host) ?? [];
    const [key, ...targets] = segments;
    if (bot === undefined || organisation === undefined || key === undefined) {
      throw new Problem(
        400,
        'The URL needs a bot, an organisation and an API key, as in zulip://bot@organisation/api_key/stream',
      );
    }
    const place = organisation + domain;
    return {
      url: `https://${place}/api/v1/messages`,
      basic: { user: `${bot}-bot@${place}`, password: key },
      targets: targets.length === 0 ? [STREAM] : targets.map(target => target.replace(/^#/, '')),
    };
  },

  send: ({ url, basic, targets }, { title, body, text, format }, delivery) =>
    delivery.each(targets, async to => {
      const shown = format === 'markdown' ? (content: string) => content : verbatim;
      const form = to.includes('@')
        ? { type: 'private', to, content: shown(text) }
        : { type: 'stream', to, subject: title || TOPIC, content: shown(body) };
      const answer = await delivery.request(url, { basic, form });
      const isOk = answer.json.result === 'success';
      return delivery.outcome(answer, {
        statuses: [200],
        isOk,
        reason: answer.json.msg,
        retryAfterSec: answer.json['retry-after'],
      });
    }),
};

/** A code block whose fence is longer than any in the text, because Zulip knows no escapes. */
function verbatim(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

export default definePlugin({
  name: 'notify-zulip',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'zulip', zulip),
});
