// A configured service that can be moved: its files, and the names of its databases in PostgreSQL.
import path from 'node:path';
import { type ContributionList, type Host, type NamedBlock, Problem } from '#core';
import { doneOrLate } from '#kit/deadline';
import { unknownProcess } from '#kit/unknown-process';
import type {} from '../config-files/contract.ts';
import type { LaunchPlan } from '../process/contract.ts';
import type {} from '../setup/contract.ts';
import type {} from '../versions/contract.ts';
import type { MigratedDatabase, MigrationService } from './contract.ts';
import { dataOf } from './data-place.ts';
import type { MigrationJob } from './job.ts';
import type { Owner } from './places.ts';
import { newestOf, type SourceFile } from './sqlite-source.ts';

/** The longest name that PostgreSQL keeps whole. */
const MAX_NAME_BYTES = 63;
const VERSION_MS = 10_000;
/** The options by which blocks name their databases. */
const NAME_OPTIONS = ['postgres_main_db', 'postgres_log_db', 'postgres_database'];

export interface SubjectDatabase {
  readonly label: MigratedDatabase['label'];
  readonly option: string;
  readonly source: SourceFile;
  /** Name in PostgreSQL. */
  readonly target: string;
}

/** The options that the block of a moved service gets. `targets` are the names of its databases by label. */
export function movedOptions(
  { databases }: MigrationService,
  targets: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  return {
    postgres_enabled: true,
    ...Object.fromEntries(databases.map(({ label, option }) => [option, targets[label]])),
  };
}

export class Subject {
  readonly named: NamedBlock;
  readonly service: MigrationService;
  readonly #host: Host;
  readonly #services: ContributionList<MigrationService>;

  private constructor(
    host: Host,
    services: ContributionList<MigrationService>,
    { named, service }: { readonly named: NamedBlock; readonly service: MigrationService },
  ) {
    this.#host = host;
    this.#services = services;
    this.named = named;
    this.service = service;
  }

  /** Throws a Problem: 404 for an unknown process, 400 for one that cannot be moved. */
  static of(host: Host, services: ContributionList<MigrationService>, processName: string): Subject {
    const named = host.use('config.store').findBlock(processName);
    if (named === undefined || named.isHost) throw unknownProcess(processName);
    const service = services.get(named.configKey)?.value;
    if (service !== undefined) return new Subject(host, services, { named, service });
    const known = [...services].map(({ key }) => key).sort();
    const those = known.length === 0 ? '' : `; these do: ${known.join(', ')}`;
    throw new Problem(400, `${named.processName} has no migration from SQLite to PostgreSQL${those}`);
  }

  get processName(): string {
    return this.named.processName;
  }

  /** The block as it is now. */
  get block(): Readonly<Record<string, unknown>> {
    return this.#host.use('config.store').findBlock(this.processName)?.block ?? this.named.block;
  }

  /** null for a service without instances. */
  get instanceName(): string | null {
    return instanceOf(this.named);
  }

  get directory(): string {
    return String(this.block.config_dir ?? '');
  }

  /** Where the program keeps its data. */
  get data(): string {
    const { directory, service } = this;
    if (service.data === undefined) return directory;
    const { argv, env } = this.#host.use('process.supervisor').plan(this.named);
    return dataOf(service.data, { argv, env, directory });
  }

  /** undefined when the facts of the service name no settings file. */
  get settingsFile(): string | undefined {
    const { settingsFile } = this.service;
    return settingsFile === undefined ? undefined : path.join(this.data, settingsFile);
  }

  /** The file of settings that points the program at PostgreSQL; undefined where variables do. */
  get switchedFile(): string | undefined {
    return this.service.settings === undefined ? undefined : this.settingsFile;
  }

  /** The user that the service runs as. */
  get user(): Owner {
    return this.#host.use('process.supervisor').plan(this.named).user;
  }

  get isRunning(): boolean | null {
    const snapshot = this.#host.use('process.supervisor').get(this.processName);
    return snapshot === undefined ? null : snapshot.pid !== null;
  }

  /**
   * The command, variables and user of a launch with these options in place of those of the block. Rejects with a
   * Problem that says what is missing.
   */
  launchPlan(options: Readonly<Record<string, unknown>> = {}): Promise<LaunchPlan> {
    return this.#host.use('service.setup').plan({ ...this.named, block: { ...this.block, ...options } });
  }

  /** The version of the program; null when it is not known within ten seconds. */
  async version(): Promise<string | null> {
    const versions = this.#host.find('service.versions');
    const known = versions?.of(this.processName) ?? null;
    if (known !== null || versions === undefined) return known;
    const asked = versions.refresh(this.processName).catch(() => null);
    return (await doneOrLate(asked, VERSION_MS)) ?? null;
  }

  /** The settings as they are on disk. Rejects with a Problem when they cannot be read. */
  async settings(): Promise<Readonly<Record<string, unknown>>> {
    const { settingsFile } = this;
    const { settingsRoot } = this.service;
    if (settingsFile === undefined) return {};
    const values = await this.#host.use('config.files').values(this.named, settingsFile);
    const settings = settingsRoot === undefined ? values : values[settingsRoot];
    if (typeof settings === 'object' && settings !== null) return settings as Record<string, unknown>;
    throw new Problem(422, `${settingsFile} has no element ${settingsRoot}`);
  }

  async databases(): Promise<SubjectDatabase[]> {
    const settings = await this.#readableSettings();
    const { user, isRunning, directory, data } = this;
    const places: Readonly<Record<string, string>> = { config_dir: directory, data };
    return Promise.all(
      this.service.databases.map(async database => {
        const files = database.files.map(file =>
          file.replace(/^\{(\w+)\}/, (all, name: string) => places[name] ?? all),
        );
        return {
          label: database.label,
          option: database.option,
          source: { file: await newestOf(files), user, isStopped: isRunning === false },
          target: this.#target(database, settings),
        };
      }),
    );
  }

  /** Why a name cannot be used; undefined when it can. */
  async obstacleOf(target: string): Promise<string | undefined> {
    if (Buffer.byteLength(target) > MAX_NAME_BYTES) return `the name ${target} is longer than ${MAX_NAME_BYTES} bytes`;
    if (['postgres', 'template0', 'template1'].includes(target)) return `${target} belongs to PostgreSQL itself`;
    const other = await this.#otherUserOf(target);
    return other === undefined ? undefined : `the database ${target} belongs to ${other}`;
  }

  /** A service on PostgreSQL may use a database that its block does not name. */
  async #otherUserOf(target: string): Promise<string | undefined> {
    for (const named of this.#host.use('config.store').blocks()) {
      const { processName, configKey, block } = named;
      if (processName === this.processName) continue;
      if (NAME_OPTIONS.some(option => block[option] === target)) return processName;
      const service = this.#services.get(configKey)?.value;
      if (block.postgres_enabled !== true || service === undefined) continue;
      const other = new Subject(this.#host, this.#services, { named, service });
      const settings = await other.#readableSettings();
      if (service.databases.some(database => other.#target(database, settings) === target)) return processName;
    }
    return undefined;
  }

  async #readableSettings(): Promise<Readonly<Record<string, unknown>>> {
    return this.settings().catch(() => ({}));
  }

  #target(database: MigratedDatabase, settings: Readonly<Record<string, unknown>>): string {
    const isGiven = (value: unknown): value is string => typeof value === 'string' && value !== '';
    const own = this.block[database.option];
    if (isGiven(own)) return own;
    const written = database.setting === undefined ? undefined : settings[database.setting];
    if (isGiven(written)) return written;
    const first = this.#host.find('service.templates')?.get(this.named.configKey)?.instance ?? 'Default';
    if (this.instanceName === null || this.instanceName === first) return database.name;
    return database.instanceName.replace('<slug>', slugOf(this.instanceName));
  }
}

function instanceOf({ path, key }: NamedBlock): string | null {
  return path.length > 1 ? key : null;
}

/** Whether the block is that of the service that a job has moved, and not of another one with its name. */
export function isMovedBy(
  named: NamedBlock | undefined,
  { service_key, instance_name }: Pick<MigrationJob, 'service_key' | 'instance_name'>,
): boolean {
  return named?.configKey === service_key && instanceOf(named) === instance_name;
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
    .replace(/_$/, '');
}
