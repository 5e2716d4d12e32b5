// What runs the host on a machine or in a container, as far as it can be held to without one: the tools that read these
// files find no fault, and whoever stops the host gives it the time that it takes.
import { execFile } from 'node:child_process';
import { access, chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { hostSchema } from '../core/config/host-schema.ts';
import { shutdownSection } from '../plugins/process/settings.ts';
import { programOf } from './support/debian.ts';
import { testDir } from './support/directory.ts';

const run = promisify(execFile);
const SHUTDOWN_SECONDS = shutdownSection.parse({}).timeout_seconds;
/** Of Node. */
const ONE_THREAD = '--v8-pool-size=1';
const rootDir = path.join(import.meta.dirname, '..');
const deployDir = path.join(rootDir, 'deploy');

t.test('Node knows the option with which the host is started', async t => {
  const threads = "require('node:fs').readdirSync('/proc/self/task').length";
  const { stdout } = await run(process.execPath, [ONE_THREAD, '--print', threads]);
  const { stdout: usual } = await run(process.execPath, ['--v8-pool-size=4', '--print', threads]);
  t.equal(Number(usual) - Number(stdout), 3, 'it starts no more threads than that');
  const { scripts } = JSON.parse(await readFile(path.join(rootDir, 'package.json'), 'utf8'));
  t.match(scripts.start, `node ${ONE_THREAD} dist/`);
});

t.test('the unit for systemd', async t => {
  const analyze = await programOf(['systemd-analyze'], ['systemd']);
  const unit = await readFile(path.join(deployDir, 'stackwarden.service'), 'utf8');
  const [, command = ''] = new RegExp(`^ExecStart=/usr/bin/env node ${ONE_THREAD} (\\S+)`, 'm').exec(unit) ?? [];
  const directory = testDir(t);
  const [program, file] = [path.join(directory, 'stackwarden'), path.join(directory, 'stackwarden.service')];
  await writeFile(program, '');
  await chmod(program, 0o755);
  await writeFile(file, unit.replace(command, program));
  const { stderr } = await run(analyze, ['verify', file]);
  const faults = stderr.split('\n').filter(line => line.includes('stackwarden'));
  // Known to systemd from 254 on.
  t.same(
    faults.filter(line => !line.includes("'DelegateSubgroup'")),
    [],
  );
  const [, stopSeconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  t.ok(Number(stopSeconds) > SHUTDOWN_SECONDS, 'it stops in time');
  t.match(unit, /^KillMode=process$/m, 'services live on for the next host');
});

interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly { readonly word: string; readonly rest: string }[];
}

/** The stages of a Dockerfile, each with its instructions on one line. */
function stagesOf(text: string): Stage[] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n');
  const instructions = lines
    .filter(line => line.trim() !== '')
    .map(line => ({ word: line.split(' ', 1)[0] ?? '', rest: line.slice(line.indexOf(' ') + 1).trim() }));
  const starts = instructions.flatMap(({ word }, index) => (word === 'FROM' ? [index] : []));
  return starts.map((start, index) => {
    const [, base = '', name = ''] = /^(\S+)(?: AS (\S+))?$/.exec(instructions[start]?.rest ?? '') ?? [];
    return { name, base, instructions: instructions.slice(start + 1, starts[index + 1]) };
  });
}

t.test('the image', async t => {
  const stages = stagesOf(await readFile(path.join(rootDir, 'Dockerfile'), 'utf8'));
  const [build, runtime, nonroot, root] = stages;
  t.same(
    stages.map(({ name }) => name),
    ['build', 'runtime', 'nonroot', ''],
  );
  const known = ['WORKDIR', 'COPY', 'RUN', 'ENV', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD', 'VOLUME', 'USER'];
  for (const { word } of stages.flatMap(({ instructions }) => instructions)) t.ok(known.includes(word), word);
  t.same([nonroot?.base, root?.base], ['runtime', 'runtime']);
  const restOf = (stage: Stage | undefined, word: string): string[] =>
    (stage?.instructions ?? []).filter(each => each.word === word).map(({ rest }) => rest);
  for (const copied of restOf(build, 'COPY').flatMap(rest => rest.split(' ').slice(0, -1)))
    await t.resolves(access(path.join(rootDir, copied)), copied);
  t.match(restOf(runtime, 'COPY'), [/^--from=build /]);

  const { bin } = JSON.parse(await readFile(path.join(rootDir, 'package.json'), 'utf8')) as { bin: object };
  const [entrypoint = ''] = restOf(runtime, 'ENTRYPOINT');
  const [init = '', node, option, program = ''] = JSON.parse(entrypoint) as string[];
  t.ok(init in bin, init);
  t.same([node, option], ['node', ONE_THREAD]);
  t.same([path.dirname(program), path.basename(program) in bin], ['/opt/stackwarden/bin', true]);
  const { api_service: api } = hostSchema.parse({}).dumb;
  t.ok(restOf(runtime, 'EXPOSE')[0]?.split(' ').includes(String(api.port)), 'the port of the API');
  t.same([restOf(nonroot, 'USER'), restOf(root, 'USER')], [['node'], []]);
});

t.test('the compose sample', async t => {
  const text = await readFile(path.join(deployDir, 'compose.yaml'), 'utf8');
  const { services } = parse(text);
  const { build, stop_grace_period: grace, ports, volumes } = services.stackwarden;
  await t.resolves(access(path.join(deployDir, build.context, 'Dockerfile')));
  t.ok(Number.parseInt(grace, 10) > SHUTDOWN_SECONDS, 'it stops in time');
  for (const port of ports) t.match(port, /^127\.0\.0\.1:(\d+):\1$/, 'nobody else controls it before people log in');
  const left = (await readFile(path.join(rootDir, '.dockerignore'), 'utf8')).split('\n');
  const prepared = /install -d .*/.exec(text)?.[0].split(' ') ?? [];
  for (const volume of volumes as string[]) {
    const [directory = ''] = volume.split(':');
    const place = path.relative(rootDir, path.resolve(deployDir, directory));
    t.ok(
      left.some(name => name !== '' && `${place}/`.startsWith(`${name}/`)),
      `the next image is not made of what is in ${place}`,
    );
    t.ok(prepared.includes(place), `${place} is what user 1000 gets`);
  }
});
