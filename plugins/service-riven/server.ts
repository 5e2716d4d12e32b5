// The address and the API key of Riven's backend, for calls to its API and for its frontend.
import path from 'node:path';
import type { Host, NamedBlock } from '#core';
import { clientHost, urlHost } from '#kit/client-host';
import type {} from '../config-files/contract.ts';
import type { SetupContext } from '../setup/contract.ts';
import type { RivenServer } from './settings.ts';

const FILE = 'server.json';

/** undefined until the backend has created its key, at its first start. */
export async function serverOf(host: Host, backend: NamedBlock): Promise<RivenServer | undefined> {
  const settings = await host
    .find('config.files')
    ?.values(backend)
    .catch((error: unknown) => {
      host.log.debug(`the key of ${backend.processName} is not known`, error);
      return undefined;
    });
  const { port, host: address } = backend.block;
  const { api_key: apiKey } = settings ?? {};
  if (typeof apiKey !== 'string' || apiKey === '' || !Number.isInteger(port)) return undefined;
  return { address: `http://${urlHost(clientHost(address))}:${port}`, apiKey };
}

/** Writes the file that the frontend reads, as a file of `block` in `directory`. */
export async function tellServer(
  host: Host,
  block: NamedBlock,
  directory: string,
  { address, apiKey }: RivenServer,
  owner: SetupContext['owner'],
): Promise<void> {
  const text = `${JSON.stringify({ backendUrl: address, apiKey }, null, 2)}\n`;
  await host.find('config.files')?.write(block, path.join(directory, FILE), text, { mode: 0o600, owner });
}
