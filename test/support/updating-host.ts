// A host in a process of its own that updates one service, and can be killed meanwhile.
import { type RunningStackwarden, startStackwarden } from './stackwarden.ts';
import { until } from './until.ts';

export interface UpdatingHost {
  readonly host: RunningStackwarden;
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
  json(place: string, init?: RequestInit): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
  status(): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
  process(): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
  install(): Promise<any>;
}

/** Resolves when the service runs, and the update that an earlier host may have left is over. */
export async function openUpdatingHost(
  configDir: string,
  { name, port, plugins }: { readonly name: string; readonly port: number; readonly plugins: readonly string[] },
): Promise<UpdatingHost> {
  const host = await startStackwarden(configDir, port, { plugins });
  const json: UpdatingHost['json'] = async (place, init) => (await fetch(host.base + place, init)).json();
  const status = async () => (await json(`/process/update-status?process_name=${name}`)).update_status;
  const process = () => json(`/process/service-status?process_name=${name}`);
  await until(
    async () => {
      const { terminal } = await json('/process/startup-status');
      return terminal && (await process()).status === 'running' && (await status())?.status !== 'installing';
    },
    { what: `${name} to run, and its update to be over` },
  );
  const install = () =>
    json('/process/update-install', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process_name: name }),
    });
  return { host, json, process, status, install };
}
