// The Prometheus exporter: the metrics of a real host in both formats, checked by Prometheus' own tool, with hostile
// names and with plugins of third parties that fail.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { exposition } from '../../../plugins/prometheus/exposition.ts';
import { programOf } from '../../support/debian.ts';
import { kid } from '../../support/kids.ts';
import { startWithPlugins } from '../../support/own-plugins.ts';
import { until } from '../../support/until.ts';

const ODD = 'Odd "one" \\ two';
const THIRD = `
  host.contribute('prometheus.metrics', 'third', { families: () => [
    { name: 'bell_rings', help: 'How often "it" rang.', type: 'counter', samples: [{ labels: { door: 'a\\nb' }, value: 3 }, { value: null }] },
  ] });
  host.contribute('prometheus.metrics', 'broken', { families () { throw new Error('broken') } });
  host.contribute('prometheus.metrics', 'wrong', { families: () => [{ name: 'No Name', help: '', type: 'gauge', samples: [] }] });
`;
const DASHBOARD = path.join(import.meta.dirname, '../../../templates/grafana-dashboard.json');

/** The complaints of promtool. */
async function lint(text: string): Promise<string> {
  const promtool = await programOf(['promtool'], ['prometheus']);
  const { stdout, stderr, status } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}${status}`;
}

t.test('the metrics of a host are valid in both formats', async t => {
  const app = await startWithPlugins(
    t,
    { third: THIRD },
    {
      shipped: ['config', 'process', 'auto-restart', 'metrics', 'notifications', 'notify-webhook', 'prometheus'],
      config: { calm: kid('Calm', ['calm'], { enabled: true }), odd: kid(ODD, ['count', '100'], { enabled: true }) },
    },
  );
  const scrape = async (accept?: string) => {
    const response = await fetch(`${app.base}/metrics/prometheus`, accept === undefined ? {} : { headers: { accept } });
    return { type: response.headers.get('content-type'), text: await response.text() };
  };
  const number = (text: string, series: string): number =>
    Number(
      text
        .split('\n')
        .find(line => line.startsWith(`stackwarden_${series} `))
        ?.split(' ')
        .at(-1),
    );
  // Two samples are needed to know how busy the host is.
  const isBusyKnown = ({ text }: { text: string }): boolean =>
    ['Calm', 'Odd'].every(name => text.includes(`stackwarden_process_cpu_cores{process="${name}`));
  const isOutputRead = ({ text }: { text: string }): boolean => number(text, 'spool_read_lines_total') === 102;
  const isThere = (answer: { text: string }): boolean => isBusyKnown(answer) && isOutputRead(answer);
  await until(async () => isThere(await scrape()), { what: 'the services', intervalMs: 200 });
  const { type, text } = await scrape();
  t.equal(type, 'text/plain; version=0.0.4; charset=utf-8');
  t.equal(await lint(text), '');
  t.match(text, 'stackwarden_process_up{process="Odd \\"one\\" \\\\ two"} 1\n');
  t.match(
    text,
    '# HELP stackwarden_bell_rings_total How often "it" rang.\n# TYPE stackwarden_bell_rings_total counter\n',
  );
  t.match(text, 'stackwarden_bell_rings_total{door="a\\nb"} 3\n');
  t.notMatch(text, /No Name|null|undefined|NaN/, 'what fails or does not fit is left out');

  t.equal(number(text, 'spool_files'), 2);
  t.equal(number(text, 'spool_read_bytes_total'), 'up\nup\n'.length + 100 * 'number 10\n'.length - 10);
  t.equal(number(text, 'spool_waiting_bytes'), 0);

  const numbers = async () => (await scrape()).text;
  const before = await numbers();
  await app.get('/process/processes');
  await app.get('/process?process_name=Nobody');
  for (const path of ['/nowhere', '/nowhere/else', '/']) await app.get(path);
  const after = await numbers();
  const grown = (labels: string): number =>
    number(after, `requests_total{${labels}}`) - (number(before, `requests_total{${labels}}`) || 0);
  t.same(
    [
      grown('group="process",status="2xx"'),
      grown('group="process",status="4xx"'),
      grown('group="unknown",status="4xx"'),
      grown('group="metrics",status="2xx"'),
    ],
    [1, 1, 3, 1],
  );
  t.ok(number(after, 'request_seconds_total{group="process"}') > 0);
  t.notMatch(after, 'nowhere', 'what clients name makes no series');

  const memory = /stackwarden_process_memory_bytes\{process="Calm"\} (\d+)/.exec(text)?.[1];
  t.ok(Number(memory) > 1_000_000);

  const open = await scrape('application/openmetrics-text; version=1.0.0,text/plain;q=0.5');
  t.equal(open.type, 'application/openmetrics-text; version=1.0.0; charset=utf-8');
  t.match(
    open.text,
    '# TYPE stackwarden_process_restarts counter\nstackwarden_process_restarts_total{process="Calm"} 0\n',
  );
  t.ok(open.text.endsWith('\n# EOF\n'));

  const named = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const asked = [...(await readFile(DASHBOARD, 'utf8')).matchAll(/stackwarden_\w+/g)].map(([name]) => name);
  t.ok(asked.length > 20);
  t.same(
    [...new Set(asked)].filter(name => !named.has(name)),
    [],
    'the dashboard asks for what there is',
  );
});

t.test('any text is escaped as one value of a label', async t => {
  // The unit `binary` of fast-check takes a second to build.
  const character = fc.oneof(
    fc.constantFrom('"', '\\', '\n', '\r', '{', '}', ','),
    fc.nat(0xd7_ff).map(code => String.fromCodePoint(code)),
  );
  const values = fc.array(fc.string({ unit: character, maxLength: 30 }), { minLength: 1, maxLength: 5 });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(values, fc.constantFrom('prometheus', 'openmetrics'), (texts, format) => {
        const samples = texts.map(door => ({ labels: { door }, value: 1 }));
        const lines = exposition([{ name: 'bells', help: '"\n\\', type: 'gauge', samples }], format).split('\n');
        const told = lines.filter(line => line !== '' && !line.startsWith('# '));
        return (
          told.length === new Set(texts).size &&
          told.every(line => /^stackwarden_bells\{door="(?:[^"\\\n]|\\[\\n"])*"\} 1$/.test(line))
        );
      }),
    ),
  );
});

t.test('long names that begin alike are two series', async t => {
  const long = 'N'.repeat(230);
  const samples = [`${long}1`, `${long}2`, `${'x'.repeat(190)}😀 and more text`].map(door => ({
    labels: { door },
    value: 1,
  }));
  const lines = exposition([{ name: 'bells', help: '', type: 'gauge', samples }], 'prometheus').split('\n');
  const told = lines.filter(line => line.startsWith('stackwarden_bells{'));
  t.equal(told.length, 3);
  for (const line of told) t.ok(line.length < 240 && Buffer.from(line).toString() === line, line);
});
