// The contract of services that can be moved to PostgreSQL: their description is consistent, and the helper process
// made from it shares nothing with the service.
import type { Test } from 'tap';
import type { MigrationService } from '../../plugins/postgres-migration/contract.ts';
import { dataOf } from '../../plugins/postgres-migration/data-place.ts';
import { helperCommand, helperEnvironment, helperSettings } from '../../plugins/postgres-migration/helper-launch.ts';
import { servicePoint } from '../../plugins/postgres-migration/points.ts';

export interface MigrationTable {
  /** The command that launches the service with its data in `data`. */
  readonly command: readonly string[];
  /** Environment variables of the service that decide where its data is. */
  readonly variables?: Readonly<Record<string, string>>;
  /** `config_dir` in the service's block. Default: `data`. */
  readonly directory?: string;
  readonly data: string;
  /** The command by which the helper must be launched for the data in `/helper` and the port 4711. */
  readonly helperCommand: readonly string[];
  /** Settings of the service. Those that a helper must not share get another value in the helper. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Which settings and variables a helper must not share, for example ports, addresses and keys. */
  readonly notShared: readonly string[];
}

const SERVER = { host: '127.0.0.1', port: 5_432, user: 'keeper', password: 'p-a-s-s' };
const MAX_NAME_BYTES = 63;
const LONG_INSTANCE = 'a_rather_long_name_of_one';

/** Runs all tests of the contract. */
export function holdMigrationService(t: Test, service: MigrationService, table: MigrationTable): void {
  const { databases, helper, overridingVariables } = service;
  const { directory = table.data, settings = {}, variables = {} } = table;

  t.test('facts', async t => {
    t.same(servicePoint.schema.safeParse(service).error?.issues ?? [], []);
    for (const key of ['label', 'option', 'name', 'instanceName'] as const)
      t.equal(new Set(databases.map(database => database[key])).size, databases.length, `no ${key} twice`);
    const texts = service.settings ?? service.variables ?? {};
    for (const { label, name, instanceName, setting } of databases) {
      const longest = instanceName.replace('<slug>', LONG_INSTANCE);
      for (const text of [name, longest]) t.ok(Buffer.byteLength(text) <= MAX_NAME_BYTES, `${text} is a name`);
      if (setting !== undefined) t.equal(texts[setting], `{${label}}`, `${setting} says it`);
    }
    for (const value of ['{host}', '{port}', '{user}', '{password}', '{main}'])
      t.ok(Object.values(texts).includes(value), `there is a place for ${value}`);
    const place = service.data ?? { otherwise: '{config_dir}' };
    t.equal(dataOf(place, { argv: table.command, env: variables, directory }), table.data, 'its data is found');
  });

  t.test('a helper', async t => {
    const names = Object.fromEntries(databases.map(({ label }) => [label, `stage_${label}`]));
    for (const includesLogs of [true, false]) {
      const given = { data: '/helper', port: 4_711, key: 'a-new-key', includesLogs, server: SERVER, databases: names };
      const command = helperCommand(table.command, helper, given);
      t.same(command, table.helperCommand);
      const overriding = Object.fromEntries(overridingVariables.map(beginning => [`${beginning}X`, 'x']));
      const own = { PATH: '/bin', ...variables, ...overriding, [`${helper.withoutVariables.toLowerCase()}x`]: 'x' };
      const env = helperEnvironment(service, own, given);
      t.equal(env.PATH, '/bin');
      t.notOk(Object.values(env).includes('x'), 'it gets nothing that says otherwise');
      const values = { ...settings, ...helperSettings(service, given) };
      for (const name of table.notShared) {
        if (Object.hasOwn(settings, name)) t.not(values[name], settings[name], `the setting ${name} is its own`);
        else t.not(env[name], variables[name], `the variable ${name} is its own`);
      }
      for (const [name, value] of Object.entries({ ...env, ...values }))
        t.notMatch(value, /[{}]/, `${name} has no place that is left open`);
      for (const text of [...command.slice(1), ...Object.values(env)])
        t.notOk(text.includes(table.data), 'it knows nothing of the data of the service');
      t.ok(Object.values({ ...env, ...values }).includes('stage_main'));
    }
  });
}
