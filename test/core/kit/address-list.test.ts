// Lists of addresses and networks: what is neither is ignored, and never widens the list.
import t from 'tap';
import { addressList } from '../../../core/kit/address-list.ts';

const IN: readonly (readonly [string, string])[] = [
  ['192.0.2.1', '192.0.2.1'],
  ['127.0.0.0/8', '127.9.9.9'],
  [' 127.0.0.0/8 ', '::ffff:127.9.9.9'],
  ['0.0.0.0/0', '8.8.8.8'],
  ['fd00::/8', 'fd12::1'],
  ['fe80::/10', 'fe80::1%eth0'],
];
const OUT: readonly (readonly [string, string])[] = [
  ['192.0.2.1/', '8.8.8.8'],
  ['192.0.2.1/ ', '8.8.8.8'],
  ['fd00::1/', 'fe80::1'],
  ['192.0.2.0/8/0', '8.8.8.8'],
  ['192.0.2.0/0x0', '8.8.8.8'],
  ['192.0.2.0/-0', '8.8.8.8'],
  ['192.0.2.0/33', '192.0.2.0'],
  ['192.0.2.0/255.0.0.0', '192.0.2.0'],
  ['', '192.0.2.1'],
  ['*', '192.0.2.1'],
  ['192.0.2.1', 'localhost'],
];

t.test('addresses in lists', async t => {
  for (const [text, address] of IN) t.ok(addressList([text])(address), `'${text}' holds ${address}`);
  for (const [text, address] of OUT) t.notOk(addressList([text])(address), `'${text}' does not hold ${address}`);
});
