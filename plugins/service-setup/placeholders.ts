// Fills `{name}` in the texts of a template: from the service's block, other blocks, the global keys and the database.
import type { NamedBlock } from '#core';
import type { ServiceTemplate } from '../service-templates/contract.ts';

type Values = Readonly<Record<string, unknown>>;

export interface PlaceholderSource {
  readonly block: NamedBlock;
  readonly template: ServiceTemplate;
  readonly root: Values;
}

export class Placeholders {
  readonly #source: PlaceholderSource;
  readonly #databases: Values;

  constructor(source: PlaceholderSource) {
    this.#source = source;
    this.#databases = databaseValues(source);
  }

  /** Unknown names stay as they are. */
  fill(text: string): string {
    return text.replaceAll(/\{([A-Za-z_][\w.]*)\}/g, (whole, name: string) => {
      const value = this.value(name);
      return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : whole;
    });
  }

  /** As `fill` for every text of a tree. A text that is one placeholder becomes its value; `{name:text}` stays a text. */
  fillTree(tree: unknown): unknown {
    if (typeof tree === 'string') {
      const [, name, asText] = /^\{([A-Za-z_][\w.]*)(:text)?\}$/.exec(tree) ?? [];
      if (name === undefined) return this.fill(tree);
      const value = this.value(name) ?? '';
      return asText === undefined ? value : String(value);
    }
    if (Array.isArray(tree)) return tree.map(member => this.fillTree(member));
    if (typeof tree !== 'object' || tree === null) return tree;
    return Object.fromEntries(Object.entries(tree).map(([key, member]) => [key, this.fillTree(member)]));
  }

  /** Whether an option is set: `name` of the block, or `key.name` of another. */
  isSet(name: string): boolean {
    const value = this.value(name);
    return value !== undefined && value !== null && value !== false && value !== '';
  }

  value(name: string): unknown {
    const { block, root } = this.#source;
    if (Object.hasOwn(this.#databases, name)) return this.#databases[name];
    if (Object.hasOwn(block.block, name)) return block.block[name];
    const path = name.split('.');
    return valueAt(block.block, path) ?? valueAt(root, path);
  }
}

/** The server as its clients reach it, and the names of the databases of this service. */
function databaseValues({ block, template, root }: PlaceholderSource): Values {
  const server = (root.postgres ?? {}) as Values;
  const wildcard = ['', '0.0.0.0', '::', undefined];
  const named = (role: string | undefined): string | undefined => {
    const found = template.databases?.find(({ engine, role: own }) => engine === 'postgres' && own === role);
    const isFirst = template.instance === undefined || block.key === template.instance;
    return isFirst
      ? found?.name
      : (found?.instanceName?.replace('<slug>', block.key.toLowerCase().replaceAll(' ', '_')) ?? found?.name);
  };
  const own = (option: string, fallback: string | undefined) => {
    const value = block.block[option];
    return typeof value === 'string' && value !== '' ? value : fallback;
  };
  return {
    postgres_host: wildcard.includes(server.host as string) ? '127.0.0.1' : server.host,
    postgres_port: server.port,
    postgres_user: server.user,
    postgres_password: server.password,
    postgres_database: own('postgres_database', named('main') ?? named(undefined)),
    postgres_main_db: own('postgres_main_db', named('main')),
    postgres_log_db: own('postgres_log_db', named('log')),
  };
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Values)[key] : undefined,
    tree,
  );
}
