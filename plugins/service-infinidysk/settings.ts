// Reads and writes the settings of InfiniDysk over its backend, as form fields (POST /api/get-config and
// /api/update-config with `x-api-key`).
import type { FetchAnswer, FetchOptions, NamedBlock } from '#core';

interface ConfigItem {
  readonly configName: string;
  readonly configValue: string;
}

type Fetch = (url: string, options: FetchOptions) => Promise<FetchAnswer>;

export class Settings {
  readonly #target: NamedBlock;
  readonly #fetch: Fetch;

  constructor(target: NamedBlock, fetch: Fetch) {
    this.#target = target;
    this.#fetch = fetch;
  }

  /** Values by name; settings that were never set are missing. Throws an Error when the backend refuses. */
  async read(names: readonly string[]): Promise<Readonly<Record<string, string | undefined>>> {
    const answer = await this.#send(
      'get-config',
      names.map(name => ['config-keys', name]),
    );
    const { configItems = [] } = answer.json() as { readonly configItems?: readonly ConfigItem[] };
    return Object.fromEntries(configItems.map(({ configName, configValue }) => [configName, configValue]));
  }

  async write(values: readonly [string, string][]): Promise<void> {
    await this.#send('update-config', values);
  }

  async #send(action: string, form: [string, string][] | readonly [string, string][]): Promise<FetchAnswer> {
    const { processName, block } = this.#target;
    const apiKey = ((block.env ?? {}) as Record<string, unknown>).FRONTEND_BACKEND_API_KEY;
    if (typeof apiKey !== 'string' || apiKey === '') throw new Error(`${processName} has no API key yet`);
    const answer = await this.#fetch(`http://127.0.0.1:${block.backend_port}/api/${action}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams([...form]).toString(),
    });
    if (answer.status !== 200) throw new Error(`${processName} answers ${answer.status} to ${action}`);
    return answer;
  }
}
