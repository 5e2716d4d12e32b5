// Places known services below one directory, with programs in place of their own that note how they were started.
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer as createWebServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import type { Test } from 'tap';
import { startHost, type TestHost } from './host.ts';
import { freePort } from './stackwarden.ts';
import { until } from './until.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Run {
  readonly directory: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The first folder of an absolute path, unless the path is in a system directory. */
const ABSOLUTE = /(?<=^|[=: ])\/(?!(?:bin|sbin|usr\/bin|usr\/sbin|usr\/local|tmp)(?:\/|$|:))([a-z][\w-]*)/g;
/** Folders of the host, which has its own places for them. */
const FOLDERS: Readonly<Record<string, string>> = { config: 'host', log: 'host/log' };
const END = '--- end of part ---';

/** Creates the least that counts as a data directory. */
const INITDB = 'mkdir -p -m 700 "$2" && mkdir "$2/base" && echo 16 > "$2/PG_VERSION" && : > "$2/postgresql.conf"';
export class Stack {
  readonly dir: string;
  readonly #ports = new Map<string, number>();
  #app: TestHost | undefined;

  constructor(dir: string) {
    this.dir = dir;
  }

  get app(): TestHost {
    if (this.#app === undefined) throw new Error('the host does not run yet');
    return this.#app;
  }

  /** Creates the directories, and a program that creates a data directory. */
  async make(): Promise<void> {
    for (const place of ['host/templates/services', 'bin', 'seen']) await mkdir(this.at(place), { recursive: true });
    await chmod(this.at('seen'), 0o777);
    await writeFile(this.at('seen/before'), '');
    await chmod(this.at('seen/before'), 0o666);
    await writeFile(this.at('bin/initdb'), `#!/bin/sh\necho "$0 $*" >> '${this.at('seen/before')}'\n${INITDB}\n`);
    await chmod(this.at('bin/initdb'), 0o755);
  }

  at(...place: string[]): string {
    return path.join(this.dir, ...place);
  }

  /** A value of the catalogue with its absolute paths moved below the directory of the test. */
  moved<Value>(value: Value): Value {
    const place = (folder: string): string => this.at(FOLDERS[folder] ?? folder);
    const text = JSON.stringify(value, (_key, member) =>
      typeof member === 'string' ? member.replaceAll(ABSOLUTE, (_whole, folder: string) => place(folder)) : member,
    );
    return JSON.parse(text) as Value;
  }

  async port(name: string): Promise<number> {
    const port = this.#ports.get(name) ?? (await freePort());
    this.#ports.set(name, port);
    return port;
  }

  /** Places the program of an absolute path, or of a name on `PATH`, and the scripts among its arguments. */
  async place(argv: readonly string[], directory: string): Promise<void> {
    const [program = '', ...rest] = argv;
    if (program !== '/bin/sh') await this.#note(program.includes('/') ? program : this.at('bin', program));
    for (const word of rest.filter(argument => /\.(m?js|py|sh)$/.test(argument)))
      await this.#note(path.resolve(directory, word));
  }

  /**
   * Writes a script that runs on when it is started as a service, and ends when it is run before one or for its
   * version.
   */
  async #note(file: string): Promise<void> {
    const note = `{ pwd; printf '%s\\n' '${END}' "$0" "$@" '${END}'; /usr/bin/env; } > "${this.at('seen')}/$name"`;
    const ends = `name=$STACKWARDEN_PROCESS_NAME\n[ -n "$name" ] || { echo "$0 $*" >> "${this.at('seen')}/before"; exit 0; }`;
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `#!/bin/sh\n[ "$1" = obscure ] && exec /bin/cat\n${ends}\n${note}\nexec /bin/sleep 600\n`);
    await chmod(file, 0o755);
  }

  async run(name: string): Promise<Run> {
    const file = this.at('seen', name);
    const [directory = '', argv = '', env = ''] = await until(
      async () => {
        const parts = (await readFile(file, 'utf8').catch(() => '')).split(`${END}\n`);
        return parts.length === 3 && parts[2]?.includes('PATH=') ? parts : undefined;
      },
      { what: `a run of ${name}` },
    );
    const pairs = env.split('\n').map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
    return { directory: directory.trim(), argv: argv.trimEnd().split('\n'), env: Object.fromEntries(pairs) };
  }

  /** Command lines that ran before the launches of services. */
  before(): Promise<string> {
    return readFile(this.at('seen/before'), 'utf8');
  }

  async open(t: Test, config: Values): Promise<void> {
    const before = process.env.PATH;
    process.env.PATH = `${this.at('bin')}:/usr/bin:/bin`;
    t.teardown(() => {
      process.env.PATH = before;
    });
    const configDir = this.at('host');
    this.#app = await startHost({ plugins: 'services', configDir, config });
    t.teardown(() => this.#app?.stop());
  }
}

/** A server that accepts and closes connections, for services that wait for a port. */
export async function listening(port: number): Promise<Server> {
  const server = createServer(socket => socket.destroy()).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A web server where the files of a mount would be served. */
export async function serving(t: Test, port: number): Promise<void> {
  const server = createWebServer((_request, answer) => answer.end()).listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
}
