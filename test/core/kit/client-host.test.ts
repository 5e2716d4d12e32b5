// The address at which clients on this machine reach a server, for each way to write the address it listens at.
import t from 'tap';
import { clientHost, urlHost } from '../../../core/kit/client-host.ts';
import { placedValue } from '../../../core/kit/placed-value.ts';

t.test('an address to listen at gives an address to connect to', async t => {
  for (const everywhere of [undefined, null, '', ' ', '*', '0.0.0.0', '::', '[::]', ',', 'localhost,*', '0.0.0.0, ::'])
    t.equal(clientHost(everywhere), '127.0.0.1', JSON.stringify(everywhere));
  for (const [told, reached] of [
    ['localhost', 'localhost'],
    [' db.example.org ', 'db.example.org'],
    ['::1', '::1'],
    ['[::1]', '::1'],
    ['192.0.2.1, localhost', '192.0.2.1'],
  ] as const)
    t.equal(clientHost(told), reached, told);
});

t.test('IPv6 addresses have brackets in URLs only', async t => {
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) t.equal(urlHost(name), name);
  t.equal(urlHost('::1'), '[::1]');
  for (const [before, after] of [
    ['tcp://', ':5432'],
    ['postgres://a:b@', '/films'],
    ['http://', ''],
    ['', ':5432'],
  ] as const)
    t.equal(placedValue('fd00::7', before, after), '[fd00::7]', `${before} ${after}`);
  for (const [before, after] of [
    ['', ''],
    ['Host=', ';Port=1'],
    ['http://a/', ''],
  ] as const)
    t.equal(placedValue('fd00::7', before, after), 'fd00::7', `${before} ${after}`);
  t.equal(placedValue('5432', 'tcp://', ''), '5432');
});
