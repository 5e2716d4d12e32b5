// A receiver of the user's own gets each message as JSON or as a form, with the members, headers and query of the URL.
import { definePlugin, Problem } from '#core';
import type { DestinationUrl, NotificationDestination } from '../notifications/contract.ts';

interface CustomConfig {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly basic: { readonly user: string; readonly password: string };
  /** Further members, and other names for the usual ones; an empty name leaves a member out. */
  readonly members: Readonly<Record<string, string>>;
}

const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const RAW_PATH = /^[^:]+:\/\/[^/?]*([^?]*)/;

function parse(url: DestinationUrl): CustomConfig {
  const method = (url.query.get('method') || 'POST').toUpperCase();
  if (!METHODS.includes(method)) throw new Problem(400, `The method is one of ${METHODS.join(', ')}`);
  // The path is taken as it was written, because a receiver may distinguish `/a` from `/a/`.
  const [, path = ''] = RAW_PATH.exec(url.text) ?? [];
  const target = new URL(url.base() + path.replaceAll('#', '%23'));
  for (const [name, value] of Object.entries(url.prefixed('-'))) target.searchParams.append(name, value);
  const basic = { user: url.user, password: url.password };
  return { url: target.href, method, headers: url.extraHeaders(), basic, members: url.prefixed(':') };
}

/** The usual members under the names that the URL gives them, and further members of the URL. */
function membersOf(usual: Readonly<Record<string, unknown>>, named: Readonly<Record<string, string>>) {
  const renamed = Object.entries(usual).map(([name, value]) => [named[name] ?? name, value] as const);
  const own = Object.entries(named).filter(([name]) => !(name in usual));
  return Object.fromEntries([...renamed, ...own].filter(([name]) => name !== ''));
}

const json: NotificationDestination<CustomConfig> = {
  schemes: ['json', 'jsons'],
  example: 'jsons://host/path',
  parse,
  async send({ url, members, ...request }, { title, body, type }, delivery) {
    const usual = { version: '1.0', title, message: body, attachments: [], type };
    return delivery.outcome(await delivery.request(url, { ...request, json: membersOf(usual, members) }));
  },
};

const form: NotificationDestination<CustomConfig> = {
  schemes: ['form', 'forms'],
  example: 'forms://host/path',
  parse,
  async send({ url, members, ...request }, { title, body, type }, delivery) {
    const fields = membersOf({ version: '1.0', title, message: body, type }, members) as Record<string, string>;
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return delivery.outcome(await delivery.request(url, { ...request, form: fields }));
    }
    const target = new URL(url);
    for (const [name, value] of Object.entries(fields)) target.searchParams.append(name, value);
    return delivery.outcome(await delivery.request(target.href, request));
  },
};

export default definePlugin({
  name: 'notify-custom',
  host: '^1',
  needs: ['notifications'],
  setup(host) {
    host.contribute('notifications.destination', 'json', json);
    host.contribute('notifications.destination', 'form', form);
  },
});
