// The reason of an exit is taken from the last lines of a service: the error itself, and not the lines around it.
import t from 'tap';
import { startHost } from '../../support/host.ts';
import { start } from '../../support/kids.ts';

const LAST_WORDS = {
  node: [
    'node:events:502',
    "      throw er; // Unhandled 'error' event",
    '      ^',
    '',
    'Error: listen EADDRINUSE: address already in use 127.0.0.1:18821',
    '    at Server.setupListenHandle [as _listen2] (node:net:1908:16)',
    "Emitted 'error' event on Server instance at:",
    '    at emitErrorNT (node:net:1944:8) {',
    "  code: 'EADDRINUSE',",
    "  syscall: 'listen',",
    '}',
    'Node.js v20.20.2',
  ],
  dotnet: [
    'Unhandled exception. System.IO.IOException: Failed to bind to address http://127.0.0.1:7878: address already in use.',
    ' ---> System.Net.Sockets.SocketException (98): Address already in use',
    '   at System.Net.Sockets.Socket.Bind(EndPoint localEP)',
    '   --- End of inner exception stack trace ---',
    '   at Program.Main(String[] args)',
  ],
  python: [
    'Traceback (most recent call last):',
    '  File "/srv/main.py", line 1, in <module>',
    '    raise ValueError("no such library")',
    'ValueError: no such library',
  ],
};
const EXPECTED = {
  node: 'Error: listen EADDRINUSE: address already in use 127.0.0.1:18821',
  dotnet: LAST_WORDS.dotnet[0],
  python: 'ValueError: no such library',
};

t.test('the error of a stack is the reason', async t => {
  const block = (kind: keyof typeof LAST_WORDS) => ({
    process_name: kind,
    enabled: false,
    command: ['sh', '-c', 'printf "%s\\n" "$@" >&2; exit 1', 'sh', ...LAST_WORDS[kind]],
  });
  const app = await startHost({
    plugins: ['process'],
    config: { node: block('node'), dotnet: block('dotnet'), python: block('python') },
  });
  t.teardown(() => app.stop());
  for (const kind of ['node', 'dotnet', 'python'] as const) {
    const { body } = await start(app, kind);
    t.equal(body.detail, `${kind} failed to stay running (exit code 1): ${EXPECTED[kind]}`);
  }
});
