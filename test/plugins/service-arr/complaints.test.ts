// The refusal of an application is reported, as far as it is a sentence.
import t from 'tap';
import { Applications } from '../../../plugins/service-arr/applications.ts';
import type { ArrInstance } from '../../../plugins/service-arr/contract.ts';

t.test('the sentence of a refusal is found in answers of every form', async t => {
  const instance = {
    facts: { api: 'v3' },
    address: 'http://127.0.0.1:1',
    apiKey: 'k',
    block: { processName: 'Films' },
  };
  const told = async (text: string) => {
    const fetch = async () => ({ status: 500, headers: {}, text });
    const applications = new Applications({ fetch } as never, { handedOver: {} as never, family: new Map() });
    return applications.ask(instance as unknown as ArrInstance, 'tag').then(String, ({ message }: Error) => message);
  };
  const refusal = 'Films answers 500 to tag';
  t.equal(await told('{"message":"no"}'), `${refusal}: no`);
  t.equal(await told('[{"errorMessage":"a"},{},{"errorMessage":"b"}]'), `${refusal}: a; b`);
  for (const odd of ['', '<html>', 'null', '[null]', '{"message":{}}']) t.equal(await told(odd), refusal, odd);
  t.equal(await told(JSON.stringify({ message: 'x'.repeat(60_000) })), `${refusal}: ${'x'.repeat(1_000)}`);
  t.equal(await told(JSON.stringify({ message: 'x'.repeat(70_000) })), refusal, 'a text that is no complaint');
});
