// The contract of services that can be moved to PostgreSQL: their facts fit together, and a helper instance that is made
// from them has nothing in common with the service itself.
import type { Test } from 'tap';
import type { MigrationService } from '../../plugins/postgres-migration/contract.ts';
import { helperCommand, helperEnvironment, helperSettings } from '../../plugins/postgres-migration/helper-launch.ts';
import { servicePoint } from '../../plugins/postgres-migration/points.ts';

export interface MigrationTable {
  /** The command of the service, as it is launched with the data in `data`. */
  readonly command: readonly string[];
  readonly data: string;
  /** The same for the data in `/helper`, as the program has to be launched there. */
  readonly helperCommand: readonly string[];
  /** Settings of the service. Those that a helper must not share have another value in its own. */
  readonly settings: Readonly<Record<string, string>>;
  /** Which of them a helper must not share, for example ports, addresses and keys. */
  readonly notShared: readonly string[];
}

const SERVER = { host: '127.0.0.1', port: 5_432, user: 'keeper', password: 'p-a-s-s' };
const MAX_NAME_BYTES = 63;
const LONG_INSTANCE = 'a_rather_long_name_of_one';

/** Runs all of the contract. */
export function holdMigrationService(t: Test, service: MigrationService, table: MigrationTable): void {
  const { databases, helper, overridingVariables } = service;

  t.test('facts', async t => {
    t.same(servicePoint.schema.safeParse(service).error?.issues ?? [], []);
    for (const key of ['label', 'option', 'name', 'instanceName'] as const)
      t.equal(new Set(databases.map(database => database[key])).size, databases.length, `no ${key} twice`);
    for (const { label, name, instanceName, setting } of databases) {
      const longest = instanceName.replace('<slug>', LONG_INSTANCE);
      for (const text of [name, longest]) t.ok(Buffer.byteLength(text) <= MAX_NAME_BYTES, `${text} is a name`);
      if (setting !== undefined) t.equal(service.settings[setting], `{${label}}`, `${setting} says it`);
    }
    const values = Object.values(service.settings);
    for (const value of ['{host}', '{port}', '{user}', '{password}', '{main}'])
      t.ok(values.includes(value), `its settings have a place for ${value}`);
    for (const text of [overridingVariables, helper.withoutVariables]) t.equal(text, text.toUpperCase());
  });

  t.test('a helper instance', async t => {
    const command = helperCommand(table.command, helper, { data: '/helper', port: '4711' });
    t.same(command, table.helperCommand);
    t.notOk(
      command.slice(1).some(word => word.includes(table.data)),
      'it knows nothing of the data of the service',
    );
    const env = { [`${overridingVariables}HOST`]: 'x', [helper.withoutVariables.toLowerCase()]: 'x', PATH: '/bin' };
    t.same(helperEnvironment(service, env), { PATH: '/bin' });
    const names = Object.fromEntries(databases.map(({ label }) => [label, `stage_${label}`]));
    for (const includesLogs of [true, false]) {
      const given = { port: 4_711, key: 'a-new-key', includesLogs, server: SERVER, databases: names };
      const settings = { ...table.settings, ...helperSettings(service, given) };
      for (const name of table.notShared) t.not(settings[name], table.settings[name], `${name} is its own`);
      for (const [name, value] of Object.entries(settings))
        t.notMatch(value, /[{}]/, `${name} has no place that is left open`);
      t.ok(Object.values(settings).includes('stage_main'));
    }
  });
}
