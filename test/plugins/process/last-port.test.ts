// A service with two ports whose second one would lie above the last there is: it says so, and keeps no other service
// from getting its ports.
import t from 'tap';
import type { NamedBlock } from '../../../core/contract/config.ts';
import { reservePorts, resolvePorts } from '../../../plugins/process/launch/ports.ts';
import { freePort } from '../../support/stackwarden.ts';

const blockOf = (key: string, port: number): NamedBlock => ({
  processName: key,
  path: [key],
  configKey: key,
  key,
  isHost: false,
  block: { enabled: true, process_name: key, port },
});

t.test('the second port of the last port', async t => {
  const port = await freePort();
  const [pair, one, other] = [blockOf('pair', 65_535), blockOf('one', port), blockOf('other', port)];
  const blocks = [pair, one, other];
  const companion = (configKey: string) => (configKey === 'pair' ? 1 : undefined);
  await t.rejects(resolvePorts(pair, blocks, companion), {
    status: 500,
    message: 'pair cannot start: no port above 65535 is free; nothing was changed',
  });
  const moves = await reservePorts(blocks, () => false, companion);
  t.same([...moves.keys()], [other], 'the others get theirs');
});
