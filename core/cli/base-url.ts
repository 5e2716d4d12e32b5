// The URL under which a listener is reached from its own machine.
import { clientHost, urlHost } from '../kit/client-host.ts';

export function baseUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${urlHost(clientHost(host))}:${port}`;
}
