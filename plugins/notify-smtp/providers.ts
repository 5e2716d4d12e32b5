// Mail providers whose servers are not named like the domain of their addresses.

/** How a connection is encrypted: not at all, before its first command, or from its beginning. */
export type Encryption = 'insecure' | 'starttls' | 'ssl';

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly encryption: Encryption;
}

const PROVIDERS: readonly (readonly [domain: RegExp, ...MailServerParts])[] = [
  [/^(?:gmail|googlemail)\.com$/, 'smtp.gmail.com', 587, 'starttls'],
  [/^yahoo\.[a-z.]+$/, 'smtp.mail.yahoo.com', 465, 'ssl'],
  [/^(?:outlook|hotmail|live)\.[a-z.]+$/, 'smtp-mail.outlook.com', 587, 'starttls'],
  [/^office365\.com$/, 'smtp.office365.com', 587, 'starttls'],
  [/^fastmail\.[a-z.]+$/, 'smtp.fastmail.com', 465, 'ssl'],
  [/^zoho\.[a-z.]+$/, 'smtp.zoho.com', 587, 'starttls'],
  [/^gmx\.[a-z.]+$/, 'mail.gmx.com', 587, 'starttls'],
  [/^yandex\.[a-z.]+$/, 'smtp.yandex.ru', 465, 'ssl'],
  [/^qq\.com$/, 'smtp.qq.com', 587, 'starttls'],
  [/^163\.com$/, 'smtp.163.com', 465, 'ssl'],
];

type MailServerParts = readonly [host: string, port: number, encryption: Encryption];

/** The server for addresses of a domain; undefined when it is not known. Logins of these providers are addresses. */
export function providerOf(domain: string): MailServer | undefined {
  const [, host, port, encryption] = PROVIDERS.find(([pattern]) => pattern.test(domain.toLowerCase())) ?? [];
  return host === undefined || port === undefined || encryption === undefined ? undefined : { host, port, encryption };
}
