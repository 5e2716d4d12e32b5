// The URL under which a listener is reached from its own machine.

export function baseUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  const target = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${target.includes(':') ? `[${target}]` : target}:${port}`;
}
