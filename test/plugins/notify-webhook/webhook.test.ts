// The generic webhook: its URLs, and what a receiver gets.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createFetcher } from '../../../core/host/fetch.ts';
import { attempt } from '../../../plugins/notifications/attempt.ts';
import type { NotificationDestination } from '../../../plugins/notifications/contract.ts';
import { readUrl } from '../../../plugins/notifications/destination-url.ts';
import { contributionOf } from '../../support/templates.ts';

t.test('the webhook', async t => {
  const webhook = await contributionOf<NotificationDestination>('notify-webhook', 'notifications.destination');
  const read = (text: string) => webhook.parse(readUrl(text, webhook.schemes));
  t.match(read('https://host:81/path?x=%20'), { url: 'https://host:81/path?x=%20' });
  t.throws(() => read('https://me:secret@host/'), { status: 400, message: /no user and password/ });
  for (const hostless of ['https:///', 'https:///path', 'http:////path', 'http://?query', 'http://\\path'])
    t.throws(() => read(hostless), { status: 400, message: /needs a host/ }, hostless);

  const seen: { headers: IncomingHttpHeaders; body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ headers: request.headers, body: JSON.parse(body) });
    response.end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const fetcher = createFetcher(new AbortController().signal, 'Stackwarden/test');
  t.teardown(() => fetcher.close());
  const { port } = server.address() as AddressInfo;
  const facts = {
    deliveryId: 'd1',
    eventId: 'e1',
    eventType: 'service.start.failed',
    severity: 'critical' as const,
    title: 'Title',
    body: 'Body',
    serviceName: 'A',
    timestamp: 1.5,
    attempt: 2,
    metadata: { a: 1 },
  };
  const headers = { Authorization: 'Bearer x', 'Content-Type': 'application/vnd.x+json' };
  const url = readUrl(`http://127.0.0.1:${port}/hook`, webhook.schemes, headers);
  t.same(await attempt(webhook, url, facts, { fetch: fetcher.fetch, userAgent: 'Stackwarden/test' }), { ok: true });
  t.match(seen, [
    {
      headers: {
        authorization: 'Bearer x',
        'content-type': 'application/vnd.x+json',
        'x-event-id': 'e1',
        'x-delivery-id': 'd1',
      },
      body: {
        source: 'DUMB',
        event_id: 'e1',
        event_type: 'service.start.failed',
        severity: 'critical',
        title: 'Title',
        body: 'Body',
        service_name: 'A',
        timestamp: 1.5,
        delivery_id: 'd1',
        attempt: 2,
        metadata: { a: 1 },
      },
    },
  ]);
});
