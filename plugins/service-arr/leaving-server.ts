// When an application leaves the managed database server, clears the settings that were written to its file for that.
// Settings that users have written themselves stay.
import type { Host } from '#core';
import type { FileObject, ServiceFileAccess } from '../config-files/contract.ts';
import type { SetupContext } from '../setup/contract.ts';
import type { ArrFacts } from './facts.ts';
import type { HandedOver } from './handed-over.ts';

type Leaving = NonNullable<ArrFacts['leaving']>;
type Settings = Readonly<Record<string, unknown>>;

export async function leaveServer(
  host: Host,
  handedOver: HandedOver,
  { block, fill }: SetupContext,
  leaving: Leaving,
): Promise<void> {
  const files = host.find('config.files');
  if (files === undefined) return;
  const file = fill('{config_file}');
  const names = [block.configKey, block.key, leaving.switch];
  const given = pick(await present(files, block, file), leaving);
  if (block.block[leaving.switch] === true) {
    await handedOver.note(names, given);
    return;
  }
  const isBlank = Object.values(given).every(value => value === '');
  if (isBlank || (await handedOver.matches(names, given)) !== true) return;
  const blank = Object.fromEntries(leaving.settings.map(name => [name, '']));
  await files.ensure(block, file, {
    seed: undefined,
    values: { Config: blank },
    initial: {},
    mode: 0o600,
    owner: null,
  });
  // Noted, so that settings that users write later are not cleared.
  await handedOver.note(names, blank);
  host.log.info(`${block.processName} reads its own databases again, because ${leaving.switch} is off`);
}

/** Empty when the file cannot be read, which is reported when it is written. */
async function present(files: ServiceFileAccess, block: SetupContext['block'], file: string): Promise<FileObject> {
  return files.values(block, file).catch(() => ({}));
}

function pick({ Config: settings }: FileObject, leaving: Leaving): Settings {
  const found = (settings ?? {}) as Settings;
  return Object.fromEntries(leaving.settings.map(name => [name, found[name] ?? '']));
}
