// Signal: a gateway that holds the sender's account sends each message to numbers and groups, or to the sender itself.
import { definePlugin, Problem } from '#core';
import type { NotificationDestination } from '../notifications/contract.ts';

interface SignalConfig {
  readonly url: string;
  readonly basic: { readonly user: string; readonly password: string };
  readonly number: string;
  readonly recipients: readonly string[];
}

const NUMBER = /^\+?(\d{6,15})$/;
const GROUP = /^@?(?:group\.)?([\w+/=-]+)$/;

const signal: NotificationDestination<SignalConfig> = {
  schemes: ['signal', 'signals'],
  example: 'signals://host/sender/recipient',

  parse(url) {
    const [from = '', ...to] = url.segments;
    const number = numberOf(from);
    if (number === undefined) {
      throw new Problem(
        400,
        'The URL needs the number of the sender with its country code: signals://host/sender/recipient',
      );
    }
    return {
      url: `${url.base()}/v2/send`,
      basic: { user: url.user, password: url.password },
      number,
      recipients: to.length === 0 ? [number] : to.map(recipientOf),
    };
  },

  async send({ url, basic, number, recipients }, { text, format }, delivery) {
    const json = { message: text, number, recipients, text_mode: format === 'markdown' ? 'styled' : undefined };
    return delivery.outcome(await delivery.request(url, { basic, json }), { statuses: [200, 201] });
  },
};

/** The number as `+` and digits, without separators; undefined for another text. */
function numberOf(text: string): string | undefined {
  const [, digits] = NUMBER.exec(text.replaceAll(/[\s().-]/g, '')) ?? [];
  return digits === undefined ? undefined : `+${digits}`;
}

function recipientOf(text: string): string {
  const number = numberOf(text);
  if (number !== undefined) return number;
  const [, group] = /^@|^group\./.test(text) ? (GROUP.exec(text) ?? []) : [];
  if (group !== undefined) return `group.${group}`;
  throw new Problem(400, 'A recipient is a number with its country code, or a group such as @group.id');
}

export default definePlugin({
  name: 'notify-signal',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'signal', signal),
});
