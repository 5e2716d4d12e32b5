// Which process listens where: what was found is kept for as long as the kernel tells the same of the process.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import t from 'tap';
import { Breather } from '../../../plugins/metrics/breather.ts';
import { SocketMap } from '../../../plugins/metrics/sockets.ts';

async function listening(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

t.test('ports of a process that changes, and of one that does not', async t => {
  const [stays, goes] = await Promise.all([listening(), listening()]);
  t.teardown(() => stays.close());
  const [kept, gone] = [portOf(stays), portOf(goes)];
  const map = new SocketMap();
  const reading = () => ({ pid: process.pid, key: `${process.pid}:1` });
  const first = reading();
  const portsAt = async (nowMs: number, as: ReturnType<typeof reading>) => {
    await map.refresh(new Breather(), nowMs);
    const { ports } = await map.useOf([as], nowMs, new Breather(), true);
    return ports.filter(port => port === kept || port === gone);
  };
  t.same(
    await portsAt(0, first),
    [kept, gone].sort((a, b) => a - b),
  );
  goes.close();
  await once(goes, 'close');
  t.equal((await portsAt(30_000, first)).length, 2, 'it did nothing that the kernel counts');
  t.equal((await portsAt(5_000, reading())).length, 2, 'nor is a busy one looked at again at once');
  t.same(await portsAt(30_000, reading()), [kept]);
  const second = await listening();
  t.teardown(() => second.close());
  const other = new SocketMap();
  const all = async (nowMs: number) => {
    await other.refresh(new Breather(), nowMs);
    return (await other.useOf([first], nowMs, new Breather(), true)).ports;
  };
  t.ok((await all(0)).includes(portOf(second)));
  const port = portOf(second);
  second.close();
  await once(second, 'close');
  t.ok((await all(59_000)).includes(port));
  t.notOk((await all(60_000)).includes(port), 'after a minute it is looked at in any case');
});
