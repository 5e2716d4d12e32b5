// Which process listens where: a result is reused while the kernel's data about the process stays the same.
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
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

t.test('ports are right for processes that change and that do not', async t => {
  const servers: Server[] = [];
  const listen = async (): Promise<number> => {
    const server = await listening();
    t.teardown(() => server.close());
    servers.push(server);
    return portOf(server);
  };
  const map = new SocketMap();
  const reading = () => ({ pid: process.pid, key: `${process.pid}:1` });
  const first = reading();
  const portsAt = async (nowMs: number, as: ReturnType<typeof reading>) => {
    await map.refresh(new Breather(), nowMs);
    if (map.isDue([as], nowMs, true)) await map.look([as], nowMs, new Breather(), true);
    const { ports } = map.useOf([as]);
    return servers.map(portOf).filter(port => ports.includes(port));
  };
  const one = await listen();
  t.same(await portsAt(0, first), [one]);
  const two = await listen();
  t.same(await portsAt(30_000, first), [one], 'it did nothing that the kernel counts');
  t.same(await portsAt(5_000, reading()), [one], 'nor is a busy one looked at again at once');
  const second = reading();
  t.same(await portsAt(30_000, second), [one, two]);
  const three = await listen();
  t.same(await portsAt(89_000, second), [one, two]);
  t.same(await portsAt(90_000, second), [one, two, three], 'after a minute it is looked at in any case');
});

t.test('a foreign process with many descriptors is read less often', async t => {
  const descriptors = Array.from({ length: 100 }, () => openSync('/dev/null', 'r'));
  t.teardown(() => {
    for (const descriptor of descriptors) closeSync(descriptor);
  });
  const map = new SocketMap();
  const server = await listening();
  t.teardown(() => server.close());
  const isFoundAt = async (nowMs: number, other: Server, isManaged: boolean): Promise<boolean> => {
    const changed = { pid: process.pid, key: `${process.pid}:1` };
    await map.refresh(new Breather(), nowMs);
    if (map.isDue([changed], nowMs, isManaged)) await map.look([changed], nowMs, new Breather(), isManaged);
    return map.useOf([changed]).ports.includes(portOf(other));
  };
  t.ok(await isFoundAt(0, server, false));
  const late = await listening();
  t.teardown(() => late.close());
  t.notOk(await isFoundAt(19_000, late, false));
  t.ok(await isFoundAt(19_500, late, true), 'at once when it is managed');
  const changed = { pid: process.pid, key: `${process.pid}:1` };
  t.notOk(map.isDue([changed], 38_000, false));
  t.ok(map.isDue([changed], 79_500, false), 'after a minute in any case');
});
