// A stand-in for an Arr application: it writes an API key into its configuration file, serves the parts of the API
// through which it is set up, and refuses what the real applications refuse: a wrong key, a download client that does
// not answer, a missing folder. Its state is kept in <config file>.state.json. Usage: arr-app.cjs KIND PORT CONFIG_FILE
const { randomBytes } = require('node:crypto');
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { connect } = require('node:net');

const [, , kind, port, configFile] = process.argv;
const version = ['lidarr', 'prowlarr'].includes(kind) ? 'v1' : 'v3';
const stateFile = `${configFile}.state.json`;
const HIDDEN = '********';
const SECRETS = ['password', 'apiKey'];

let settings = readFileSync(configFile, 'utf8');
if (!settings.includes('<ApiKey>')) {
  settings = settings.replace('</Config>', `  <ApiKey>${randomBytes(16).toString('hex')}</ApiKey>\n</Config>`);
  writeFileSync(configFile, settings);
}
const [, apiKey] = /<ApiKey>(.*)<\/ApiKey>/.exec(settings);
const base = /<UrlBase>\/?(.*?)<\/UrlBase>/.exec(settings)?.[1] ?? '';

const category = { sonarr: 'tvCategory', radarr: 'movieCategory', whisparr: 'movieCategory', lidarr: 'musicCategory' }[
  kind
];
const template = (implementation, names) => ({
  implementation,
  configContract: `${implementation}Settings`,
  name: '',
  enable: false,
  tags: [],
  fields: names.map(name => ({ name, ...(name === 'urlBase' ? {} : { value: name === 'port' ? 8080 : '' }) })),
});
const schemas = {
  downloadclient: [
    template('Transmission', ['host', 'port', 'urlBase']),
    template('QBittorrent', ['host', 'port', 'useSsl', 'urlBase', 'username', 'password', category]),
    template('Sabnzbd', ['host', 'port', 'useSsl', 'urlBase', 'apiKey', 'username', 'password', category]),
  ],
  applications: ['Lidarr', 'Sonarr', 'Radarr', 'Whisparr'].map(name =>
    template(name, ['prowlarrUrl', 'baseUrl', 'apiKey', 'syncCategories']),
  ),
  indexer: ['MoreThanTV', 'Generic Torznab'].map(name => ({
    ...template('Torznab', ['baseUrl', 'apiPath', 'apiKey']),
    name,
    definitionName: name,
  })),
};
const state = existsSync(stateFile)
  ? JSON.parse(readFileSync(stateFile, 'utf8'))
  : {
      writes: 0,
      downloadclient: [],
      applications: [],
      indexer: [],
      tag: [{ id: 1, label: 'mine' }],
      rootfolder: [],
      mediamanagement: { id: 1, setPermissionsLinux: false, chmodFolder: '755', chownGroup: '' },
    };
const fixed = { qualityprofile: [{ id: 4 }], metadataprofile: [{ id: 7 }], appprofile: [{ id: 3 }] };

const save = () => {
  writeFileSync(`${stateFile}.new`, JSON.stringify(state));
  renameSync(`${stateFile}.new`, stateFile);
};
const refusal = (propertyName, errorMessage) => ({
  status: 400,
  body: [{ propertyName, errorMessage, severity: 'error' }],
});
const shown = entry => ({
  ...entry,
  fields: entry.fields.map(field =>
    SECRETS.includes(field.name) && field.value ? { ...field, value: HIDDEN } : field,
  ),
});
const answers = (host, at) =>
  new Promise(resolve => {
    const socket = connect(at, host);
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

async function complaintAbout(list, entry) {
  const value = name => entry.fields.find(field => field.name === name)?.value;
  if (typeof entry.name !== 'string' || entry.name === '') return refusal('Name', "'Name' must not be empty.");
  if (list === 'downloadclient' && !(await answers(value('host'), value('port'))))
    return refusal('Host', `Unable to connect to ${value('host')}:${value('port')}`);
  if (list === 'indexer' && entry.appProfileId === undefined)
    return refusal('AppProfileId', 'App Profile does not exist');
  if (list === 'applications') {
    const { hostname, port: at } = new URL(value('baseUrl'));
    if (!(await answers(hostname, Number(at)))) return refusal('BaseUrl', 'Unable to connect to the application');
  }
  return undefined;
}

async function change(list, id, entry) {
  const present = state[list].find(other => other.id === id);
  if (id !== undefined && present === undefined) return { status: 404, body: { message: 'NotFound' } };
  const complaint = await complaintAbout(list, entry);
  if (complaint !== undefined) return complaint;
  const kept = name => present?.fields.find(field => field.name === name)?.value;
  const fields = entry.fields.map(field => (field.value === HIDDEN ? { ...field, value: kept(field.name) } : field));
  const stored = { ...entry, fields, id: id ?? state[list].length + 1 };
  state[list] = [...state[list].filter(other => other.id !== stored.id), stored];
  return { status: id === undefined ? 201 : 202, body: shown(stored) };
}

async function answer(method, [resource, second], body) {
  if (resource === 'system') return { status: 200, body: { appName: kind, version: '4.0.0.1' } };
  if (fixed[resource]) return { status: 200, body: fixed[resource] };
  if (schemas[resource]) {
    if (second === 'schema') return { status: 200, body: schemas[resource] };
    if (method === 'GET') return { status: 200, body: state[resource].map(shown) };
    return change(resource, second === undefined ? undefined : Number(second), body);
  }
  if (resource === 'tag' || resource === 'rootfolder') {
    if (method === 'GET') return { status: 200, body: state[resource] };
    if (resource === 'tag' && !/^[a-z0-9-]+$/.test(body.label))
      return refusal('Label', 'Allowed characters a-z, 0-9 and -');
    if (resource === 'rootfolder' && !existsSync(body.path))
      return refusal('Path', `Folder '${body.path}' does not exist`);
    if (resource === 'rootfolder' && kind === 'lidarr' && !body.defaultMetadataProfileId)
      return refusal('DefaultMetadataProfileId', 'Metadata Profile does not exist');
    const added = { ...body, id: state[resource].length + 1 };
    state[resource].push(added);
    return { status: 201, body: added };
  }
  if (resource === 'config' && second === 'mediamanagement') {
    if (method === 'PUT') state.mediamanagement = body;
    return { status: method === 'PUT' ? 202 : 200, body: state.mediamanagement };
  }
  return { status: 404, body: { message: 'NotFound' } };
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', chunk => chunks.push(chunk));
  request.on('end', async () => {
    const reply = ({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const [first, ...rest] = request.url.split('?')[0].split('/').filter(Boolean);
    const path = base === '' ? [first, ...rest] : rest;
    if (base !== '' && first !== base) return response.writeHead(307, { location: `/${base}${request.url}` }).end();
    if (path[0] === 'ping') return reply({ status: 200, body: { status: 'OK' } });
    if (path[0] !== 'api' || path[1] !== version) return reply({ status: 404, body: {} });
    if (request.headers['x-api-key'] !== apiKey) return reply({ status: 401, body: { error: 'Unauthorized' } });
    if (request.method !== 'GET') state.writes += 1;
    const text = Buffer.concat(chunks).toString();
    reply(await answer(request.method, path.slice(2), text === '' ? undefined : JSON.parse(text)));
    save();
  });
});
process.on('SIGTERM', () => process.exit(0));
server.listen(Number(port), '127.0.0.1', save);
