// The example stack: written only where no configuration exists yet, with programs that its services' user can reach.
import { chmod, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findConfigFile } from '../config/load.ts';
import { openConfig } from '../config/open.ts';
import { writeFileAtomic } from '../kit/atomic-write.ts';
import { makeDirectory } from '../kit/make-directory.ts';
import { reachOf } from '../kit/service-user.ts';
import { createEarlyLog } from '../log/early-log.ts';
import { isPlaceInUse, isPrivatePlace, makePlace, removeForgottenPlaces } from './example-place.ts';
import { exampleStack } from './example-stack.ts';

const FIRST_WEB_PORT = 8_081;
const templateDir = fileURLToPath(new URL('../../templates/example', import.meta.url));

/**
 * The programs are in `{config_dir}/example` and may be changed. If the services' user cannot reach that directory, for
 * example below a home of mode 0700, they run from copies in a directory elsewhere, the place, while the example runs.
 */
export class Example {
  readonly #configDir: string;
  readonly #directory: string;
  /** File with the path of the place, if the example needs one. */
  readonly #record: string;
  #place: string | undefined;

  constructor(configDir: string) {
    this.#configDir = configDir;
    this.#directory = path.join(configDir, 'example');
    this.#record = path.join(this.#directory, 'place');
  }

  /** Writes the example; does nothing where a configuration exists. */
  async write(): Promise<void> {
    await makeDirectory(this.#configDir);
    if ((await findConfigFile(this.#configDir)) !== null) return;
    await cp(templateDir, this.#directory, { recursive: true });
    // Without a package.json beside them Node would not treat the programs as modules outside this project.
    await writeFile(path.join(this.#directory, 'package.json'), '{ "type": "module" }\n');
    await rm(this.#record, { force: true });
    const { directory, node } = await this.#whereToRun();
    const config = await exampleStack({
      directory,
      node,
      log_dir: path.join(this.#configDir, 'log'),
      free_port: await freePortFrom(FIRST_WEB_PORT),
    });
    const file = path.join(this.#configDir, 'stackwarden.json');
    await writeFile(file, `${JSON.stringify(config, null, 4)}\n`, { mode: 0o600, flag: 'wx' });
  }

  /** Copies the example's folder into its place again. A place that another user has made is replaced by a new one. */
  async restore(): Promise<void> {
    const recorded = await readIfPresent(this.#record);
    if (recorded === undefined) return;
    await removeForgottenPlaces();
    this.#place = (await isPrivatePlace(recorded)) ? recorded : await makePlace(this.#record, recorded);
    if (this.#place !== recorded) await this.#rename(recorded, this.#place);
    await this.#fill(this.#place);
  }

  /** Removes the place unless something still runs in it, because services that keep running need their files. */
  async release(): Promise<void> {
    const place = this.#place;
    if (place === undefined || (await isPlaceInUse(place))) return;
    await rm(place, { recursive: true, force: true });
  }

  async #whereToRun(): Promise<{ directory: string; node: string }> {
    const { user, open } = await this.#reached([path.join(this.#directory, 'web.js'), process.execPath]);
    if (user === undefined || open.every(Boolean)) return { directory: this.#directory, node: process.execPath };
    const place = await makePlace(this.#record);
    await writeFile(this.#record, `${place}\n`, { mode: 0o600 });
    return { directory: place, node: open[1] === true ? process.execPath : path.join(place, 'node') };
  }

  /** `user` is undefined when services run as the host's own user. */
  async #reached(places: readonly string[]) {
    if (process.getuid?.() !== 0) return { user: undefined, open: places.map(() => true) };
    const config = await openConfig({
      configDir: this.#configDir,
      log: createEarlyLog(),
      env: process.env,
      readOnly: true,
    });
    const { puid, pgid } = config.store.root();
    await config.close();
    const user = { uid: Number(puid), gid: Number(pgid) };
    const wanted = places.map(place => ({ place, use: 'name' as const }));
    return { user, open: (await reachOf(wanted, user)).map(reach => reach === 'open') };
  }

  async #fill(place: string): Promise<void> {
    const config = await findConfigFile(this.#configDir);
    const node = path.join(place, 'node');
    const copies = await readdir(place);
    // Skipped when the copy exists, because the file of a running program cannot be overwritten.
    if (config?.text.includes(JSON.stringify(node)) && !copies.includes('node')) await cp(process.execPath, node);
    await cp(this.#directory, place, { recursive: true, filter: source => source !== this.#record });
    for (const entry of await readdir(place, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() || entry.isDirectory()) await chmod(path.join(entry.parentPath, entry.name), 0o755);
    }
    await chmod(place, 0o755);
  }

  async #rename(former: string, place: string): Promise<void> {
    const config = await findConfigFile(this.#configDir);
    const text = config?.text.replaceAll(former, () => place);
    if (config !== null && text !== undefined) await writeFileAtomic(config.file, text, { mode: 0o600 });
    await writeFile(this.#record, `${place}\n`, { mode: 0o600 });
  }
}

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`${file} cannot be read`, { cause: error });
  }
}

/** The first port, from `first` on, on which nothing listens. */
async function freePortFrom(first: number): Promise<number> {
  for (let port = first; ; port += 1) {
    const isFree = await new Promise<boolean>(resolve => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
