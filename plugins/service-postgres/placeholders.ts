// Values for `{postgres_...}` in the texts of a service: the server's address and credentials, and the service's
// databases.
import type { ConfigStore, NamedBlock } from '#core';
import { clientHost } from '#kit/client-host';
import type { ServiceTemplate } from '../services/contract.ts';

type Values = Readonly<Record<string, unknown>>;

/** `block` and `template` are those of the service. */
export function placeholdersOf(block: NamedBlock, template: ServiceTemplate | undefined, store: ConfigStore): Values {
  const server = (store.get('postgres') ?? {}) as Values;
  const { main, log, only } = databaseNames(block, template);
  return {
    postgres_host: clientHost(server.host),
    postgres_port: server.port,
    postgres_user: server.user,
    postgres_password: server.password,
    postgres_database: own(block, 'postgres_database') ?? main ?? only,
    postgres_main_db: own(block, 'postgres_main_db') ?? main,
    postgres_log_db: own(block, 'postgres_log_db') ?? log,
  };
}

/** Names of the service's databases; names in the block take precedence over those of the template. */
export function databasesOf(block: NamedBlock, template: ServiceTemplate): string[] {
  return (template.databases ?? [])
    .filter(({ engine }) => engine === 'postgres')
    .flatMap(database => {
      const option = database.role === 'logs' ? 'postgres_log_db' : 'postgres_main_db';
      const name = own(block, option) ?? own(block, 'postgres_database') ?? nameFor(block, template, database);
      return name === undefined ? [] : [name];
    });
}

function databaseNames(block: NamedBlock, template: ServiceTemplate | undefined) {
  const named = (role: string | undefined): string | undefined => {
    const found = template?.databases?.find(({ engine, role: given }) => engine === 'postgres' && given === role);
    return template === undefined || found === undefined ? undefined : nameFor(block, template, found);
  };
  return { main: named('main'), log: named('logs'), only: named(undefined) };
}

type Database = NonNullable<ServiceTemplate['databases']>[number];

/** The first instance has the template's name; every other instance has a name of its own, if the template says how. */
function nameFor({ key }: NamedBlock, { instance }: ServiceTemplate, { name, instanceName }: Database) {
  const isFirst = instance === undefined || key === instance;
  return isFirst ? name : (instanceName?.replace('<slug>', () => key.toLowerCase().replaceAll(' ', '_')) ?? name);
}

function own({ block }: NamedBlock, option: string): string | undefined {
  const value = block[option];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
