// A stand-in for the settings API of InfiniDysk: it takes forms, answers with text values and refuses a wrong key. Its
// state is kept in the state file. Usage: infinidysk-app.cjs PORT STATE_FILE KEY
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http');

const [, , port, stateFile, key] = process.argv;
const state = existsSync(stateFile)
  ? JSON.parse(readFileSync(stateFile, 'utf8'))
  : { writes: 0, values: { 'api.categories': 'audio,tv', 'rclone.mount-dir': '' } };

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', chunk => chunks.push(chunk));
  request.on('end', () => {
    const reply = (status, body) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers['x-api-key'] !== key) return reply(401, { error: 'Unauthorized' });
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    if (request.url === '/api/get-config') {
      const names = form.getAll('config-keys').filter(name => name in state.values);
      const configItems = names.map(name => ({ configName: name, configValue: state.values[name] }));
      return reply(200, { status: true, configItems });
    }
    if (request.url !== '/api/update-config') return reply(404, { error: 'Not found' });
    Object.assign(state.values, Object.fromEntries(form));
    state.writes += 1;
    writeFileSync(stateFile, JSON.stringify(state));
    reply(200, { status: true });
  });
});
process.on('SIGTERM', () => process.exit(0));
server.listen(Number(port), '127.0.0.1', () => writeFileSync(stateFile, JSON.stringify(state)));
