// Reads a mail URL: the server, the login, the sender and the recipients.
import { Problem } from '#core';
import type { DestinationUrl } from '../notifications/contract.ts';
import { type Encryption, type MailServer, providerOf } from './providers.ts';

interface Mailbox {
  readonly name: string;
  readonly address: string;
}

export interface MailConfig extends MailServer {
  /** undefined when the URL has no password. */
  readonly login: { readonly user: string; readonly pass: string } | undefined;
  readonly from: Mailbox;
  readonly to: Mailbox[];
  readonly cc: Mailbox[];
  readonly bcc: Mailbox[];
  readonly replyTo: Mailbox[];
}

const PORTS: Readonly<Record<Encryption, number>> = { insecure: 25, starttls: 587, ssl: 465 };
const MAILBOX = /^(?:([^<>@\r\n]*)<)?([^\s"<>@,;:]{1,64}@[^\s"<>@,;:]{1,255})>?$/;

export function readMailUrl(url: DestinationUrl): MailConfig {
  const { host: domain, query, segments } = url;
  // Throws a Problem when the domain is no host name.
  url.base();
  const user = query.get('user') || url.user;
  const pass = query.get('pass') || url.password;
  const own = user.includes('@') || user === '' ? user : `${user}@${domain}`;
  const server = serverOf(url);
  const { name, address } = senderOf(query.get('from') ?? '', own);
  const from = { name: query.get('name') ?? name, address };
  const to = [...segments, query.get('to') ?? ''].flatMap(mailboxes);
  return {
    host: server.host,
    port: server.port,
    encryption: server.encryption,
    login: pass === '' ? undefined : { user: server.isProvider ? own : user, pass },
    from,
    to: to.length === 0 ? [from] : to,
    cc: mailboxes(query.get('cc') ?? ''),
    bcc: mailboxes(query.get('bcc') ?? ''),
    replyTo: mailboxes(query.get('reply') ?? ''),
  };
}

function serverOf({
  scheme,
  host: domain,
  port,
  query,
}: DestinationUrl): MailServer & { readonly isProvider: boolean } {
  const named = query.get('smtp') || undefined;
  const provider = named === undefined ? providerOf(domain) : undefined;
  const mode = query.get('mode')?.toLowerCase();
  if (mode !== undefined && !isEncryption(mode)) {
    throw new Problem(400, `The mode is one of ${Object.keys(PORTS).join(', ')}`);
  }
  const encryption = mode ?? provider?.encryption ?? (scheme === 'mailtos' ? 'starttls' : 'insecure');
  const usual = provider?.encryption === encryption ? provider.port : PORTS[encryption];
  return {
    host: named ?? provider?.host ?? domain,
    port: port ?? usual,
    encryption,
    isProvider: provider !== undefined,
  };
}

function isEncryption(mode: string): mode is Encryption {
  return Object.hasOwn(PORTS, mode);
}

/** `from` is an address, a name, or both. */
function senderOf(from: string, own: string): Mailbox {
  if (from.includes('@')) return mailboxOf(from);
  if (own === '') throw new Problem(400, 'The URL needs a sender: a user before the domain, or from=address');
  return { ...mailboxOf(own), name: from };
}

function mailboxes(list: string): Mailbox[] {
  const parts = list.split(/[,;]/).map(part => part.trim());
  return parts.filter(part => part !== '').map(mailboxOf);
}

function mailboxOf(text: string): Mailbox {
  const [, name = '', address] = MAILBOX.exec(text.trim()) ?? [];
  if (address !== undefined) return { name: name.replaceAll('"', '').trim(), address };
  throw new Problem(400, 'A recipient or sender is no mail address: it has the form name@domain');
}
