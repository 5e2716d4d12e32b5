// The values that Authelia's own file must have for its block. Other content of the file stays.
import type { NamedBlock } from '#core';
import { parseLevel } from '#kit/log-level';
import { isObject } from '#kit/plain-object';
import { valueAt } from '#kit/value-at';

type Values = Record<string, unknown>;

/** Authelia refuses to start with any other level. */
const LEVELS = { DEBUG: 'debug', INFO: 'info', WARNING: 'warn', ERROR: 'error', CRITICAL: 'error' } as const;
/** Scheme, host and path of an address. No host means every address; the path of a socket file does not match. */
const LISTENS = /^(?:(tcp[46]?):\/\/)?([^/]*?)(?::\d+)?(\/(?!\/).*)?$/;

/** The members about mail: texts, and the one that this plugin always writes. */
const TEXTS = ['address', 'username', 'sender', 'startup_check_address'];
const ALWAYS = 'disable_require_tls';

/** `present` is the present content of the file. */
export function configuration({ block }: NamedBlock, present: Values): Values {
  const word = String(block.log_level ?? '');
  return {
    server: { address: address(block, valueAt(present, ['server', 'address'])) },
    log: { level: /^\s*trace\s*$/i.test(word) ? 'trace' : LEVELS[parseLevel(word)] },
    authentication_backend: backend(block, present),
    access_control: { default_policy: block.authorization_policy },
    session: { cookies: cookies(block, valueAt(present, ['session', 'cookies'])) },
    ...(hasOwnMail(block, present) ? {} : { notifier: notifier(block) }),
  };
}

/** The address with the port of the block. Scheme, host and path are kept, because the user may have chosen them. */
function address({ port }: NamedBlock['block'], present: unknown): string {
  const given = typeof present === 'string' && present !== '' ? LISTENS.exec(present) : null;
  const [, scheme = 'tcp', host = '', at = '/'] = given ?? ['', 'tcp', '127.0.0.1'];
  return `${scheme}://${host}:${port}${at}`;
}

/** Places to remove from the file, because Authelia refuses a file with two notifiers. */
export function absentPlaces({ block }: NamedBlock, present: Values): string[][] {
  return [['notifier', sendsMail(block) || hasOwnMail(block, present) ? 'filesystem' : 'smtp']];
}

export function sendsMail({ notifier: wanted }: NamedBlock['block']): boolean {
  return isObject(wanted) && wanted.type === 'smtp';
}

/** Whether a user has set up mail in the file by hand, so that it does not come from an earlier state of the block. */
function hasOwnMail(block: NamedBlock['block'], present: Values): boolean {
  const mail = valueAt(present, ['notifier', 'smtp']);
  if (sendsMail(block) || !isObject(mail)) return false;
  return !Object.hasOwn(mail, ALWAYS) || Object.keys(mail).some(name => ![ALWAYS, ...TEXTS].includes(name));
}

/** A file of users below the service's directory, unless the file names another source of users. */
function backend({ config_dir: directory }: NamedBlock['block'], { authentication_backend: present }: Values): Values {
  return isObject(present) ? {} : { file: { path: `${directory}/users_database.yml` } };
}

function cookies(block: NamedBlock['block'], present: unknown): Values[] {
  const { cookie_domain: domain, public_url: url, default_redirection_url: landing } = block;
  const known = Array.isArray(present) ? present.filter(isObject) : [];
  const overlapping = known.filter(cookie => overlap(String(cookie.domain), String(domain)));
  const before = overlapping.find(cookie => cookie.domain === domain) ?? overlapping[0] ?? {};
  const { default_redirection_url: _former, ...kept } = before;
  const own = {
    ...kept,
    domain,
    authelia_url: url,
    ...(typeof landing === 'string' && landing !== '' ? { default_redirection_url: landing } : {}),
  };
  return [own, ...known.filter(cookie => !overlapping.includes(cookie))];
}

/** It refuses a file with two domains of which one lies in the other: one of them is of earlier days. */
function overlap(one: string, other: string): boolean {
  return `.${one}`.endsWith(`.${other}`) || `.${other}`.endsWith(`.${one}`);
}

function notifier(block: NamedBlock['block']): Values {
  if (!sendsMail(block)) return { filesystem: { filename: `${block.config_dir}/notification.txt` } };
  const wanted = block.notifier as Values;
  const set = TEXTS.map(name => [name, wanted[name]]).filter(([, value]) => typeof value === 'string' && value !== '');
  return { smtp: { ...Object.fromEntries(set), [ALWAYS]: wanted[ALWAYS] === true } };
}
