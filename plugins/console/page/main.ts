// Starts the console in the browser: asks for a login if needed, follows the streams, and shows the view of the
// address.
import { Api, ApiError } from './api.ts';
import { BeginView } from './begin-view.ts';
import { Frame } from './frame.ts';
import { GraphView } from './graph-view.ts';
import { LiveStream } from './live-stream.ts';
import { LoginView } from './login-view.ts';
import { LogsView } from './logs-view.ts';
import { Metrics } from './metrics.ts';
import { MetricsView } from './metrics-view.ts';
import { PluginsView } from './plugins-view.ts';
import { placeNow } from './router.ts';
import { ServiceView } from './service-view.ts';
import { Services } from './services.ts';
import { ServicesView } from './services-view.ts';
import type { View } from './view.ts';
import type { AuthStatus, PluginEntry, ProcessStatus } from './wire.ts';

interface Way {
  /** The route that the view needs. A view without one is shown while the host needs onboarding. */
  readonly route?: string;
  view(subject: string): View;
}

const RETRY_MS = 3_000;

/** The script lies in `console` beside the routes, whatever prefix comes before. */
const routes = new URL(import.meta.url.replace(/(?:console\/)+[^/]*$/, ''));
const api = new Api(routes);
const services = new Services(api);
const metrics = new Metrics(api);
const statuses = new LiveStream({
  api,
  path: 'ws/status',
  query: { interval: '2', health: 'true' },
  onMessage: message => {
    const { type, processes } = message as { type: string; processes?: readonly ProcessStatus[] };
    if (type === 'status') services.takeStatuses(processes ?? []);
  },
});
const frame = new Frame(api, statuses, retry);
const WAYS: ReadonlyMap<string, Way> = new Map([
  ['services', { route: '/process/processes', view: () => new ServicesView(api, services) }],
  ['service', { route: '/process/processes', view: name => new ServiceView(api, services, name) }],
  ['log', { route: '/logs', view: name => new LogsView(api, services, name === '' ? services.hostName : name) }],
  ['graph', { route: '/process/dependency-graph', view: () => new GraphView(api, services) }],
  ['metrics', { route: '/metrics', view: () => new MetricsView(metrics) }],
  ['plugins', { route: '/host/plugins', view: () => new PluginsView(api) }],
  ['begin', { view: () => new BeginView(api, () => void begin()) }],
] satisfies [string, Way][]);
/** Names of the views that the host can fill; none before the login. */
let ways: readonly string[] = [];
let isLoginShown = false;
let wasLost = false;

statuses.changed.add(() => {
  const { kind } = statuses.state;
  if (kind === 'open' && wasLost) void lookForNewerPage();
  wasLost = kind === 'lost' || (kind !== 'open' && wasLost);
});
metrics.changed.add(() => {
  if (metrics.latest !== undefined) services.takeUsage(metrics.latest);
});
api.refused.add(() => {
  // Several requests may be refused at once, and the user may be typing into the form already.
  if (isLoginShown) return;
  isLoginShown = true;
  ways = [];
  statuses.close();
  metrics.close();
  frame.allow(ways, false);
  frame.show(new LoginView(api, () => void begin()), 'login');
});
addEventListener('hashchange', () => {
  if (ways.length > 0) showPlace();
});
addEventListener('online', retry);
void begin();

function retry(): void {
  statuses.retry();
  metrics.retry();
}

/** Offers a reload when the host has another version of the page, since a host that was away may have been upgraded. */
async function lookForNewerPage(): Promise<void> {
  const own = new URL(import.meta.url).pathname.split('/').at(-1) ?? '';
  try {
    const answer = await fetch(location.pathname, { headers: { accept: 'text/html' }, cache: 'no-store' });
    if (!(await answer.text()).includes(own)) frame.offerReload();
  } catch {
    // The host is gone again. This is called once more when the stream is back.
  }
}

async function begin(): Promise<void> {
  try {
    const auth = await api.find<AuthStatus>('auth/status');
    if (auth?.enabled === true && !api.hasTokens) {
      api.refused.tell();
      return;
    }
    const offered = await readOffered();
    if (offered.includes('services')) await services.read();
    ways = offered;
    isLoginShown = false;
    frame.allow(ways, auth?.enabled === true);
    statuses.open();
    if (ways.includes('metrics')) metrics.open();
    showPlace();
  } catch (error) {
    // The form to log in is shown already.
    if (error instanceof ApiError && error.status === 401 && isLoginShown && !api.hasTokens) return;
    // The sentence takes the place of a form.
    isLoginShown = false;
    frame.fail((error as Error).message);
    setTimeout(() => void begin(), RETRY_MS);
  }
}

/** The views whose routes the host has, since a host may run without some plugins. */
async function readOffered(): Promise<readonly string[]> {
  const listed = await api.find<{ plugins: readonly PluginEntry[] }>('host/plugins');
  const routes = listed?.plugins.flatMap(plugin => plugin.routes);
  frame.allowDocumentation(api.isNative && routes?.includes('GET /docs') === true);
  const beginning = await api.find<{ needs_onboarding: boolean }>('config/onboarding-status');
  const isOffered = (route: string | undefined): boolean =>
    route === undefined ? beginning?.needs_onboarding === true : (routes?.includes(`GET ${route}`) ?? true);
  return [...WAYS].filter(([, { route }]) => isOffered(route)).map(([name]) => name);
}

function showPlace(): void {
  const { view, subject } = placeNow();
  const name = WAYS.has(view) ? view : firstWay();
  const way = WAYS.get(name);
  if (way !== undefined) frame.show(way.view(subject), name === 'service' ? 'services' : name);
}

function firstWay(): string {
  const isEmpty = !services.list.some(({ enabled, hasProgram }) => enabled && hasProgram);
  return isEmpty && ways.includes('begin') ? 'begin' : (ways[0] ?? 'plugins');
}
