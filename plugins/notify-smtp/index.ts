// E-mail: each message is a mail, whose password and text never go over a connection less encrypted than the URL says.
import { definePlugin } from '#core';
import type { DeliveryOutcome, NotificationDestination } from '../notifications/contract.ts';
import { type MailConfig, readMailUrl } from './mail-url.ts';

/** How long the server may take to close its side after the mail. */
const CLOSE_TIMEOUT_MS = 1_000;
const ENCODED = /[\w+/]{12,}={0,2}/g;

const smtp: NotificationDestination<MailConfig> = {
  schemes: ['mailto', 'mailtos'],
  example: 'mailtos://user:password@domain/recipient@domain',

  parse: readMailUrl,

  async send({ host, port, encryption, login, ...people }, message, delivery) {
    // Imported on first use, because most hosts send no mail.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({
      host,
      port,
      secure: encryption === 'ssl',
      requireTLS: encryption === 'starttls',
      ignoreTLS: encryption === 'insecure',
      auth: login,
      connectionTimeout: delivery.connectTimeoutMs,
      greetingTimeout: delivery.readTimeoutMs,
      socketTimeout: delivery.readTimeoutMs,
      socketCloseTimeout: CLOSE_TIMEOUT_MS,
      tls: { rejectUnauthorized: delivery.verifyTls },
    });
    const { deliveryId, timestamp, title, body, format } = message;
    const [, domain] = people.from.address.split('@');
    try {
      await transport.sendMail({
        ...people,
        subject: title.replaceAll(/[\r\n]+/g, ' '),
        messageId: `<${deliveryId}@${domain}>`,
        date: new Date(timestamp * 1_000),
        headers: { 'Auto-Submitted': 'auto-generated' },
        [format === 'html' ? 'html' : 'text']: body,
        signal: delivery.signal,
      });
      return { ok: true };
    } catch (error) {
      return failureOf(error as Fault);
    }
  },
};

interface Fault extends Error {
  readonly code?: string;
  /** The error code of the system, if the library has replaced it by its own. */
  readonly originalCode?: string;
}

/** The outcome of a refused unencrypted connection. Throws all other errors, for which the caller has sentences. */
function failureOf({ message, code, originalCode, name }: Fault): DeliveryOutcome {
  if (code === 'ETLS')
    return { ok: false, error: `The mail was not sent, because nothing is sent unencrypted: ${message}` };
  // The server's message may repeat the login in encoded form.
  const told = code === 'EAUTH' ? message.replaceAll(ENCODED, '[redacted]') : message;
  throw Object.assign(new Error(told), { code: originalCode ?? code, name });
}

export default definePlugin({
  name: 'notify-smtp',
  host: '^1',
  needs: ['notifications'],
  setup: host => host.contribute('notifications.destination', 'smtp', smtp),
});
